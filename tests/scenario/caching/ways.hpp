// The ways that an answer can take through the proxy: stored in memory or on disk, asked for
// forward or in reverse mode, and through another proxy.
#pragma once

#include <memory>
#include <optional>
#include <ostream>

#include "tests/scenario/peers/parent_scene.hpp"

namespace scenario {

struct WayThrough {
  const char* name;
  bool disk = false;
  bool reverse = false;
  bool parent = false;  // the answer passes two proxies
};

inline void PrintTo(const WayThrough& way, std::ostream* out) {
  *out << way.name;
}

// An origin, and a proxy that the client asks for what it has, on one of the ways.
struct WayStage {
  explicit WayStage(const WayThrough& way, json more = json::object()) : reverse(way.reverse) {
    if (way.disk) more["cache"]["disk"] = {{"path", (home / "c").string()}, {"size", "64MiB"}};
    if (way.reverse) more["reverse"] = {{{"host", "www.test"}, {"to", origin.url("")}}};
    if (way.parent) {
      parent = std::make_unique<ProxyProcess>();
      more = with_parent("p", parent->port(), more);
    }
    proxy = std::make_unique<ProxyProcess>(more);
  }
  std::string request(const std::string& path, const Fields& fields = {}) const {
    return reverse ? origin_form_text("www.test", "GET", path, fields)
                   : request_text("GET", origin.url(path), fields);
  }
  Response get(const std::string& path, const Fields& fields = {}) {
    client.emplace(proxy->port());
    client->send(request(path, fields));
    return client->read();
  }

  const bool reverse;
  const TemporaryDirectory home;
  ScriptedOrigin origin;
  std::unique_ptr<ProxyProcess> parent;
  std::unique_ptr<ProxyProcess> proxy;
  std::optional<Client> client;
};

inline const WayThrough kWays[] = {{"Memory"},
                                   {"Disk", true},
                                   {"Reverse", false, true},
                                   {"ReverseOverDisk", true, true},
                                   {"ThroughAParent", false, false, true}};

}  // namespace scenario
