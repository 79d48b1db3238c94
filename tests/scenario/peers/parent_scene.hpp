// A proxy with a parent: a scripted one, or another proxy.
#pragma once

#include <string>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {

// The settings with one parent, at this port of 127.0.0.1. Its digest is not fetched.
inline json with_parent(const char* name, std::uint16_t port, json settings = json::object()) {
  settings = with_peer(name, port, std::move(settings));
  settings["peers"][0].update({{"role", "parent"}, {"digest", "none"}});
  return settings;
}

// An origin, a scripted parent "p", and a proxy. By default both servers answer every request.
struct ParentScene {
  // `more`: further settings of the parent.
  explicit ParentScene(const json& settings = json::object(), const json& more = json::object())
      : proxy(settings_for(settings, more)), client(proxy.port()) {
    origin.otherwise([](const Request&) { return cacheable("from the origin"); });
    parent.otherwise([](const Request&) { return cacheable("by the parent"); });
  }

  json settings_for(const json& settings, const json& more) const {
    json all = with_parent("p", parent.port(), settings);
    all["peers"][0].update(more);
    return all;
  }
  Response get(const std::string& path, const Fields& fields = {}) {
    return client.get(origin.url(path), fields);
  }
  json forwarding() const { return proxy.digest_peer("p").at("forwarding"); }

  ScriptedOrigin origin;
  ScriptedOrigin parent;
  ProxyProcess proxy;
  Client client;
};

}  // namespace scenario
