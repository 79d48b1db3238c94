#include "tests/soak/fleet.hpp"

#include <signal.h>

#include <iterator>
#include <stdexcept>

namespace soak {

using support::json;

namespace {

std::size_t count_in(const std::filesystem::path& directory) {
  const std::filesystem::directory_iterator entries(directory);
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

}  // namespace

Fleet::Fleet(std::uint16_t stranger) : stranger_(stranger) {
  for (std::size_t i = 0; i < kProxies; ++i) start(i);
}

json Fleet::settings(std::size_t proxy) const {
  json peers = json::array();
  peers.push_back({{"name", "stranger"}, {"url", "http://127.0.0.1:" + std::to_string(stranger_)}});
  for (std::size_t i = 0; i < kProxies; ++i) {
    if (i == proxy) continue;
    peers.push_back({{"name", "p" + std::to_string(i)},
                     {"url", "http://127.0.0.1:" + std::to_string(listeners_[i].port())}});
  }
  const auto disk = home_ / ("disk" + std::to_string(proxy));
  return {{"name", "p" + std::to_string(proxy)},
          {"peers", peers},
          {"cache", {{"memory", "48MiB"}, {"disk", {{"path", disk.string()}, {"size", "128MiB"}}}}},
          {"digest", {{"period", "500ms"}, {"poll", "1s"}}},
          {"log", {{"access", "none"}}}};
}

void Fleet::start(std::size_t proxy) {
  proxies_[proxy] = std::make_unique<support::ProxyProcess>(settings(proxy), listeners_[proxy]);
}

void Fleet::restart(std::size_t proxy, End how) {
  down_[proxy] = true;
  auto& process = proxies_[proxy]->process();
  if (how == End::killed) {
    process.signal(SIGKILL);
    process.wait();
  } else if (const int code = proxies_[proxy]->terminate(); code != 0) {
    throw std::runtime_error("a proxy ended with " + std::to_string(code) + process.errors());
  }
  proxies_[proxy].reset();
  start(proxy);
  last_down_[proxy] = Clock::now();
  down_[proxy] = false;
}

bool Fleet::was_down_since(std::size_t proxy, Clock::time_point time) const {
  return down_[proxy] || last_down_[proxy].load() >= time;
}

support::Response Fleet::order(std::size_t proxy, std::string_view path,
                               std::string_view body) const {
  return proxies_[proxy]->page(path, {{"X-Hearsay", "1"}}, "POST", body);
}

Usage Fleet::usage(std::size_t proxy) const {
  const auto process =
      std::filesystem::path("/proc") / std::to_string(proxies_[proxy]->process().pid());
  return {proxies_[proxy]->anonymous_bytes(), count_in(process / "fd"), count_in(process / "task")};
}

double Fleet::digests_in_use(std::size_t proxy) const {
  std::size_t usable = 0;
  for (std::size_t i = 0; i < kProxies; ++i) {
    if (i == proxy) continue;
    if (books(proxy, "p" + std::to_string(i)).at("state") == "usable") ++usable;
  }
  return static_cast<double>(usable) / (kProxies - 1);
}

json Fleet::books(std::size_t proxy, const std::string& neighbour) const {
  return proxies_[proxy]->digest_peer(neighbour);
}

std::string Fleet::complaints() const {
  std::string all;
  for (const auto& proxy : proxies_) all += proxy->process().errors();
  return all;
}

}  // namespace soak
