#include "tests/bench/partition/site.hpp"

#include <algorithm>
#include <random>
#include <thread>

#include "tests/support/await.hpp"

namespace bench {
namespace {

using support::json;

constexpr std::uint16_t kPort = 3128;  // of the proxy at each host
constexpr std::size_t kClients = 32;   // of each host

json settings_at(std::size_t self, std::size_t hosts) {
  json peers = json::array();
  for (std::size_t host = 0; host < hosts; ++host) {
    if (host == self) continue;
    peers.push_back({{"name", std::to_string(host)},
                     {"url", "http://" + Network::address(host) + ":" + std::to_string(kPort)}});
  }
  return {{"name", std::to_string(self)},
          {"listen", {"0.0.0.0:" + std::to_string(kPort)}},
          {"peers", peers},
          {"digest", nullptr},  // the defaults
          {"timeouts", nullptr},
          {"access", {{"clients", {"loopback", "private"}}}},
          {"cache", {{"memory", "256MiB"}}},
          {"log", {{"access", "none"}}}};
}

}  // namespace

Site::Site(const Network& network, bool has_peers) : network_(network) {
  for (std::size_t host = 0; host < network.size(); ++host) {
    const Network::Visit visit(network, host);
    json settings = settings_at(host, network.size());
    if (!has_peers) settings["peers"] = json::array();
    proxies_.emplace_back(settings);
  }
}

void Site::await_claims() const {
  const std::vector<std::size_t> none(proxies_.size());
  if (!support::await([&] { return knows(none); })) throw std::runtime_error("no mesh");
}

json Site::digest(std::size_t host) const {
  const Network::Visit visit(network_, host);
  return proxies_[host].digest();
}

std::vector<std::size_t> Site::claims() const {
  std::vector<std::size_t> claims;
  for (std::size_t host = 0; host < proxies_.size(); ++host) {
    claims.push_back(digest(host).at("entries"));
  }
  return claims;
}

bool Site::knows(const std::vector<std::size_t>& claims) const {
  for (std::size_t host = 0; host < proxies_.size(); ++host) {
    if (!knows(host, claims)) return false;
  }
  return true;
}

namespace {

bool is_on_trial(const json& peer) {
  return peer.at("state") == "trying" || peer.at("state") == "down";
}

}  // namespace

bool Site::knows(std::size_t host, const std::vector<std::size_t>& claims) const {
  const json page = digest(host);
  return std::all_of(page.at("peers").begin(), page.at("peers").end(), [&](const json& peer) {
    const auto number = std::stoul(peer.at("name").get<std::string>());
    const bool counts = peer.at("state") == "usable" || is_on_trial(peer);
    return counts && peer.at("entries") >= claims[number];
  });
}

std::size_t Site::on_trial() const {
  std::size_t count = 0;
  for (std::size_t host = 0; host < proxies_.size(); ++host) {
    const json page = digest(host);
    for (const json& peer : page.at("peers")) count += is_on_trial(peer) ? 1 : 0;
  }
  return count;
}

std::vector<std::string> urls_for(std::size_t host, const Network& network, const std::string& site,
                                  double rate, double seconds) {
  std::mt19937 random(static_cast<unsigned>(host));
  const auto after = [rate](double time) { return static_cast<std::size_t>(rate * time); };
  const auto url = [&](std::size_t of, std::size_t step) {
    return site + std::to_string(of) + '-' + std::to_string(step / 2);
  };
  std::vector<std::string> urls;
  for (std::size_t step = 0; step < after(seconds); ++step) {
    const std::size_t newest = step - std::min(step, after(3));
    const std::size_t oldest = step - std::min(step, after(60));
    const bool is_new = step % 2 == 0 || newest == 0;
    const std::size_t other = (host + 1 + random() % (network.size() - 1)) % network.size();
    const std::size_t then = oldest + random() % (newest - oldest + 1);
    urls.push_back(is_new ? url(host, step) : url(other, then));
  }
  return urls;
}

std::vector<std::vector<Sample>> ask_all(const Network& network,
                                         const std::vector<std::vector<std::string>>& urls,
                                         double rate) {
  std::vector<std::vector<Sample>> samples(network.size());
  std::vector<std::jthread> hosts;
  for (std::size_t host = 0; host < network.size(); ++host) {
    hosts.emplace_back([&, host] {
      const Network::Visit visit(network, host);
      samples[host] = ask_openly(kPort, urls[host], {.rate = rate, .clients = kClients});
    });
  }
  hosts.clear();
  return samples;
}

}  // namespace bench
