#include "tests/bench/faults/full_mesh.hpp"

#include <stdexcept>

#include "tests/support/await.hpp"

namespace bench {

using support::json;

// Null leaves a default in force.
json mesh_settings(const std::string& name, const json& peers) {
  return {{"name", name},
          {"peers", peers},
          {"digest", nullptr},
          {"timeouts", nullptr},
          {"cache", {{"memory", "1GiB"}}},
          {"log", {{"access", "none"}}}};
}

json peer(const std::string& name, std::uint16_t port) {
  return {{"name", name}, {"url", "http://127.0.0.1:" + std::to_string(port)}};
}

FullMesh::FullMesh(std::size_t count, std::size_t nobody) : listeners(count), dead(nobody) {
  for (std::size_t self = 0; self < count; ++self) {
    json peers = json::array();
    for (std::size_t i = 0; i < count; ++i) {
      if (i != self) peers.push_back(peer(std::to_string(i), listeners[i].port()));
    }
    for (const auto& port : dead) {
      peers.push_back(peer("dead" + std::to_string(port.port()), port.port()));
    }
    proxies.emplace_back(mesh_settings(std::to_string(self), peers), listeners[self]);
  }
  if (!support::await([this] { return is_complete(); })) throw std::runtime_error("no mesh");
}

bool FullMesh::is_complete() const {
  for (const auto& proxy : proxies) {
    const json page = proxy.digest();
    for (const json& other : page.at("peers")) {
      const bool is_dead = other.at("name").get<std::string>().starts_with("dead");
      if (!is_dead && other.at("state") != "usable") return false;
    }
  }
  return true;
}

}  // namespace bench
