#include "tests/bench/faults/meshes.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "tests/bench/cpu_time.hpp"
#include "tests/bench/faults/answers.hpp"
#include "tests/bench/faults/full_mesh.hpp"
#include "tests/support/await.hpp"
#include "tests/support/proxy_process.hpp"

namespace bench {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using support::json;

constexpr std::chrono::seconds kBefore{5};
constexpr std::chrono::seconds kAfter{60};

std::string url_at(const PlayedServer& origin, std::size_t number) {
  return "http://127.0.0.1:" + std::to_string(origin.port()) + "/" + std::to_string(number);
}

double cpu_of(FullMesh& mesh) {
  double seconds = 0;
  for (std::size_t i = 0; i < mesh.size(); ++i) seconds += cpu_seconds(mesh.process(i).pid());
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
    if (!sample.giver.empty() && sample.ended > resumed) first = std::min(first, sample.ended);
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
  ask_openly(holder.port(), urls, {1000});
  const support::ProxyProcess asker(
      mesh_settings("asker", json::array({peer("holder", holder.port())})));
  if (!support::await([&] { return asker.digest_peer("holder").at("entries") == count; })) {
    throw std::runtime_error("the neighbour's digest is not used");
  }
  std::vector<Sample> samples;
  std::jthread client([&] { samples = ask_openly(asker.port(), urls, {rate}); });
  std::this_thread::sleep_for(kBefore);  // the figures before the fault need samples
  holder.process().signal(SIGSTOP);
  std::this_thread::sleep_for(stop);  // the length of the fault is the parameter
  holder.process().signal(SIGCONT);
  const auto resumed = steady_clock::now();
  client.join();
  return {figures_of(samples), first_hit_after(resumed, samples)};
}

double origin_fetches(std::size_t proxies, std::chrono::milliseconds within, std::size_t objects) {
  PlayedServer origin(well_after(80ms), "");
  const FullMesh mesh({proxies});
  for (std::size_t object = 0; object < objects; ++object) {
    std::vector<std::jthread> clients;
    for (std::size_t i = 0; i < proxies; ++i) {
      clients.emplace_back([&, i] {
        std::this_thread::sleep_for(within * i / proxies);  // the spread is the parameter
        ask_openly(mesh.port(i), {url_at(origin, object)}, {});
      });
    }
  }
  return static_cast<double>(origin.requests()) / static_cast<double>(objects);
}

Idle measure_idle(std::size_t proxies, std::size_t dead, std::chrono::seconds time) {
  FullMesh mesh({proxies, dead});
  std::this_thread::sleep_for(10s);  // the first polls and time-outs are not idling
  const double cpu = cpu_of(mesh);
  const double bytes = loopback_bytes();
  std::this_thread::sleep_for(time);  // what is measured is what happens by itself
  const auto seconds = static_cast<double>(time.count());
  return {.cpu_percent = 100 * (cpu_of(mesh) - cpu) / seconds,
          .bytes_per_second = (loopback_bytes() - bytes) / seconds};
}

}  // namespace bench
