#include "tests/bench/mesh/mesh.hpp"

#include <fmt/format.h>

#include <csignal>
#include <map>
#include <sstream>

#include "tests/bench/mesh/workload.hpp"

namespace bench {
namespace {

using support::json;

std::string name_of(std::size_t proxy) {
  return "p" + std::to_string(proxy);
}

// The URLs of all responses that the proxy holds.
std::vector<std::string> urls_held(const support::ProxyProcess& proxy) {
  std::istringstream lines(proxy.page("/admin/cache/list", {{"X-Hearsay", "1"}}).body);
  std::vector<std::string> urls;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    const json entry = json::parse(line);
    if (entry.contains("url")) urls.push_back(entry.at("url").get<std::string>());
  }
  return urls;
}

}  // namespace

Mesh::Mesh(const MeshSettings& settings)
    : settings_(settings),
      listeners_(settings.proxies),
      disks_(settings.disk.empty() ? 0 : settings.proxies),
      lives_(settings.proxies),
      proxies_(settings.proxies) {
  origin_.record_nothing();
  origin_.otherwise([this](const support::Request& request) {
    ++origin_requests_;
    return support::cacheable(body_of(request.path, settings_.body), "max-age=86400")
        .slow(settings_.to_origin, 0);
  });
  for (std::size_t i = 0; i < size(); ++i) begin(i);
}

std::string Mesh::url(std::size_t number) const {
  return origin_.url(path_of(number));
}

std::string Mesh::body(std::size_t number) const {
  return body_of(path_of(number), settings_.body);
}

// The defaults, except what a bench on loopback needs; null leaves a default in force.
json Mesh::settings_of(std::size_t self) const {
  json peers = json::array();
  for (std::size_t i = 0; i < size(); ++i) {
    if (i == self) continue;
    peers.push_back({{"name", name_of(i)}, {"url", "http://127.0.0.1:" + std::to_string(port(i))}});
  }
  json settings{{"name", name_of(self)},
                {"peers", peers},
                {"digest", nullptr},
                {"timeouts", nullptr},
                {"cache", {{"memory", settings_.memory}}},
                {"log", {{"access", "none"}}}};
  if (!disks_.empty()) {
    settings["cache"]["disk"] = {{"path", disks_[self].path()}, {"size", settings_.disk}};
  }
  if (!settings_.more.empty()) settings.update(json::parse(settings_.more), true);
  return settings;
}

void Mesh::begin(std::size_t proxy) {
  proxies_[proxy] = std::make_unique<support::ProxyProcess>(settings_of(proxy), listeners_[proxy]);
}

void Mesh::restart(std::size_t proxy) {
  ++lives_[proxy];
  proxies_[proxy]->process().signal(SIGKILL);
  proxies_[proxy]->process().wait();
  begin(proxy);
  ++lives_[proxy];
}

Held Mesh::held() const {
  std::map<std::string, std::size_t> holders;
  Held held;
  double bytes = 0;
  double stored = 0;
  for (const auto& proxy : proxies_) {
    for (const auto& url : urls_held(*proxy)) ++holders[url];
    bytes += proxy->metric("hearsay_memory_used_bytes");
    stored += proxy->metric("hearsay_cache_entries");
  }
  for (const auto& [url, count] : holders) {
    held.entries += count;
    if (count > 1) held.at_several += count;
  }
  if (stored > 0) held.bytes_per_entry = static_cast<std::uint64_t>(bytes / stored);
  return held;
}

void Mesh::print_peers() const {
  for (std::size_t i = 0; i < size(); ++i) {
    const json page = proxies_[i]->digest();
    fmt::print("{}: {} entries, {} MiB resident\n", name_of(i), page.at("entries").dump(),
               proxies_[i]->resident_bytes() >> 20);
    for (const json& peer : page.at("peers")) {
      fmt::print("   of {}: true {}, false {}, failures {}, polls {}, in vain {}, last error {}\n",
                 peer.at("name").get<std::string>(), peer.at("true_hits").dump(),
                 peer.at("false_hits").dump(), peer.at("failures").dump(), peer.at("polls").dump(),
                 peer.at("polls_failed").dump(), peer.at("last_error").dump());
    }
  }
}

}  // namespace bench
