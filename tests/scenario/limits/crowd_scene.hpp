// A crowd of connections of one client, and an origin that answers some requests only at the end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/scenario/scene.hpp"

namespace scenario {

// The last byte of addresses: 127.0.0.1 is the crowd's, 127.0.0.2 another client's.
constexpr std::uint8_t kCrowd = 1;
constexpr std::uint8_t kOther = 2;

struct CrowdScene {
  // `limits` and `access`: settings of these names.
  explicit CrowdScene(const json& limits, const json& access = json::object())
      : proxy(json{{"limits", limits}, {"access", access}}) {
    origin.otherwise([](const Request&) { return Reply().body("hello"); });
    origin.on("/stored", cacheable("hello"));
    origin.on("/waits", Reply().wait(gate).body("hello"));
  }
  ~CrowdScene() { gate.open(); }

  std::string url(std::string_view path = "/a") const { return origin.url(path); }

  // So many more connections.
  void gather(std::size_t connections) {
    for (std::size_t i = 0; i < connections; ++i) {
      crowd.push_back(std::make_unique<Client>(proxy.port(), kCrowd));
    }
  }
  // The same, each with a request that is under way when this returns.
  void gather_busy(std::size_t connections) {
    const auto before = origin.count("/waits");
    gather(connections);
    for (auto i = crowd.size() - connections; i < crowd.size(); ++i) {
      crowd[i]->send(request_text("POST", url("/waits"), {}, "x"));
    }
    EXPECT_TRUE(origin.await_requests("/waits", before + connections));
  }

  Gate gate;
  ScriptedOrigin origin;
  ProxyProcess proxy;
  std::vector<std::unique_ptr<Client>> crowd;
};

}  // namespace scenario
