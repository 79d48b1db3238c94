#include "tests/bench/faults/full_mesh.hpp"

#include <csignal>
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

FullMesh::FullMesh(const MeshOf& of)
    : of_(of),
      ports_(of.proxies),
      dead_(of.dead),
      disks_(of.have_disks ? of.proxies : 0),
      proxies_(of.proxies) {
  for (std::size_t i = 0; i < size(); ++i) start(i);
  await_complete();
}

void FullMesh::start(std::size_t proxy) {
  json peers = json::array();
  for (std::size_t i = 0; i < size() && of_.are_neighbours; ++i) {
    if (i != proxy) peers.push_back(peer(std::to_string(i), port(i)));
  }
  for (const auto& dead : dead_) {
    peers.push_back(peer("dead" + std::to_string(dead.port()), dead.port()));
  }
  json settings = mesh_settings(std::to_string(proxy), peers);
  settings["listen"] = {"127.0.0.1:" + std::to_string(port(proxy))};
  if (!disks_.empty()) {
    settings["cache"]["disk"] = {{"path", disks_[proxy].path()}, {"size", "2GiB"}};
  }
  proxies_[proxy] = std::make_unique<support::ProxyProcess>(settings);
}

void FullMesh::kill(std::size_t proxy) {
  process(proxy).signal(SIGKILL);
  process(proxy).wait();
  proxies_[proxy].reset();
}

void FullMesh::await_complete() const {
  if (!support::await([this] { return is_complete(); })) throw std::runtime_error("no mesh");
}

bool FullMesh::is_complete() const {
  for (const auto& proxy : proxies_) {
    const json page = proxy->digest();
    for (const json& other : page.at("peers")) {
      const bool is_dead = other.at("name").get<std::string>().starts_with("dead");
      const auto state = other.at("state");  // an overtaken one is tried, and counts
      if (!is_dead && state != "usable" && state != "trying") return false;
    }
  }
  return true;
}

}  // namespace bench
