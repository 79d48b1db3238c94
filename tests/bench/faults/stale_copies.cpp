#include "tests/bench/faults/stale_copies.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <thread>

#include "tests/bench/faults/answers.hpp"
#include "tests/bench/faults/full_mesh.hpp"
#include "tests/bench/faults/played_server.hpp"

namespace bench {
namespace {

constexpr std::size_t kProxies = 4;
constexpr std::size_t kObjects = 20;
constexpr std::size_t kRoundsEach = 8;  // of all objects, in a lifetime

// So many rounds, each of all objects in another order.
std::vector<std::string> urls_in_rounds(std::uint16_t origin, std::size_t rounds, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::size_t> order(kObjects);
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::string> urls;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t object : order) {
      urls.push_back("http://127.0.0.1:" + std::to_string(origin) + "/" + std::to_string(object));
    }
  }
  return urls;
}

}  // namespace

Renewals measure_stale_copies(const Ageing& ageing) {
  PlayedServer origin(bench::ageing(ageing.to_origin, ageing.max_age, ageing.validators), "");
  const FullMesh mesh({kProxies});
  const auto lifetime = static_cast<double>(ageing.max_age.count());
  const Pace pace{static_cast<double>(kObjects * kRoundsEach) / lifetime};
  std::vector<std::vector<Sample>> samples(kProxies);
  std::vector<std::jthread> clients;
  for (unsigned i = 0; i < kProxies; ++i) {
    clients.emplace_back([&, i] {
      const auto urls = urls_in_rounds(origin.port(), ageing.lifetimes * kRoundsEach, i);
      samples[i] = ask_openly(mesh.port(i), urls, pace);
    });
  }
  clients.clear();
  std::vector<Sample> all;
  for (const auto& some : samples) all.insert(all.end(), some.begin(), some.end());
  return {figures_of(all), static_cast<double>(origin.requests()) /
                               static_cast<double>(kObjects * ageing.lifetimes)};
}

}  // namespace bench
