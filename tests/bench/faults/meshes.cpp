#include "tests/bench/faults/meshes.hpp"

#include <algorithm>
#include <csignal>
#include <deque>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "tests/bench/cpu_time.hpp"
#include "tests/bench/faults/answers.hpp"
#include "tests/support/await.hpp"
#include "tests/support/proxy_process.hpp"

namespace bench {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using support::json;

constexpr std::chrono::seconds kBefore{5};
constexpr std::chrono::seconds kAfter{60};

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

std::string url_at(const PlayedServer& origin, std::size_t number) {
  return "http://127.0.0.1:" + std::to_string(origin.port()) + "/" + std::to_string(number);
}

// Proxies "0", "1", ... that are all neighbours of each other, and of `nobody`.
struct Mesh {
  explicit Mesh(std::size_t count, std::size_t nobody = 0) : listeners(count), dead(nobody) {
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

  bool is_complete() const {
    for (const auto& proxy : proxies) {
      const json page = proxy.digest();
      for (const json& other : page.at("peers")) {
        const bool is_dead = other.at("name").get<std::string>().starts_with("dead");
        if (!is_dead && other.at("state") != "usable") return false;
      }
    }
    return true;
  }

  std::deque<support::Listener> listeners;
  std::deque<support::ReservedPort> dead;
  std::deque<support::ProxyProcess> proxies;
};

double cpu_of(Mesh& mesh) {
  double seconds = 0;
  for (auto& proxy : mesh.proxies) seconds += cpu_seconds(proxy.process().pid());
  return seconds;
}

// Bytes that the loopback has received.
double loopback_bytes() {
  std::ifstream devices("/proc/net/dev");
  std::string word;
  while (devices >> word) {
    if (word == "lo:") break;
  }
  double bytes = 0;
  devices >> bytes;
  return bytes;
}

double first_hit_after(steady_clock::time_point resumed, const std::vector<Sample>& samples) {
  auto first = steady_clock::time_point::max();
  for (const Sample& sample : samples) {
    if (sample.from_peer && sample.ended > resumed) first = std::min(first, sample.ended);
  }
  if (first == steady_clock::time_point::max()) return -1;
  return std::chrono::duration<double>(first - resumed).count();
}

}  // namespace

Stopped measure_stop(std::chrono::seconds stop, double rate) {
  PlayedServer origin(well_after(2ms), "");
  const auto count =
      static_cast<std::size_t>(rate * static_cast<double>((kBefore + stop + kAfter).count()));
  std::vector<std::string> urls;
  for (std::size_t i = 0; i < count; ++i) urls.push_back(url_at(origin, i));
  support::ProxyProcess holder(mesh_settings("holder", json::array()));
  ask_openly(holder.port(), urls, 1000);
  const support::ProxyProcess asker(
      mesh_settings("asker", json::array({peer("holder", holder.port())})));
  if (!support::await([&] { return asker.digest_peer("holder").at("entries") == count; })) {
    throw std::runtime_error("the neighbour's digest is not used");
  }
  std::vector<Sample> samples;
  std::jthread client([&] { samples = ask_openly(asker.port(), urls, rate); });
  std::this_thread::sleep_for(kBefore);  // the load lasts so long before the fault
  holder.process().signal(SIGSTOP);
  std::this_thread::sleep_for(stop);  // the fault lasts so long
  holder.process().signal(SIGCONT);
  const auto resumed = steady_clock::now();
  client.join();
  return {figures_of(samples), first_hit_after(resumed, samples)};
}

double origin_fetches(std::size_t proxies, std::chrono::milliseconds within, std::size_t objects) {
  PlayedServer origin(well_after(80ms), "");
  const Mesh mesh(proxies);
  for (std::size_t object = 0; object < objects; ++object) {
    std::vector<std::jthread> clients;
    for (std::size_t i = 0; i < proxies; ++i) {
      clients.emplace_back([&, i] {
        std::this_thread::sleep_for(within * i / proxies);  // the clients' spread is measured
        ask_openly(mesh.proxies[i].port(), {url_at(origin, object)}, 1);
      });
    }
  }
  return static_cast<double>(origin.requests()) / static_cast<double>(objects);
}

Idle measure_idle(std::size_t proxies, std::size_t dead, std::chrono::seconds time) {
  Mesh mesh(proxies, dead);
  std::this_thread::sleep_for(10s);  // the start is over
  const double cpu = cpu_of(mesh);
  const double bytes = loopback_bytes();
  std::this_thread::sleep_for(time);  // what is measured is what happens by itself
  const auto seconds = static_cast<double>(time.count());
  return {.cpu_percent = 100 * (cpu_of(mesh) - cpu) / seconds,
          .bytes_per_second = (loopback_bytes() - bytes) / seconds};
}

}  // namespace bench
