// The proxies of a mesh in virtual time: what decides in each of them, without I/O.
#pragma once

#include <fmt/core.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "peers/directory.hpp"
#include "peers/publisher.hpp"
#include "proxy/cache/store.hpp"
#include "proxy/fill/site_fetches.hpp"
#include "proxy/sources/choice_plan.hpp"
#include "proxy/tiers/placement.hpp"
#include "proxy/tiers/store_holdings.hpp"
#include "tests/proxy/cache/messages.hpp"

namespace bench {

using namespace proxy;
using namespace std::chrono_literals;
using Time = sources::ChoicePlan::Time;
using Micros = std::chrono::microseconds;

struct Shape {
  std::uint32_t proxies = 16;
  std::uint32_t urls = 200'000;
  std::uint64_t requests = 1'000'000;
  double rate = 10'000;  // requests a second, of all proxies
  double alpha = 0.8;
  std::uint64_t seed = 1;
  std::uint64_t memory = 64;  // MiB, of each proxy
  std::uint32_t body = 2560;  // bytes on average
  double origin = 40;         // milliseconds to its first byte
  double neighbour = 1;       // likewise
  std::uint32_t max_age = 86'400;
  std::uint32_t at_once = 0;      // new objects that all proxies are asked for at once
  double work = 0;                // milliseconds of a processor for each message
  std::uint32_t processors = 2;   // of all proxies together
  std::uint32_t late_timers = 1;  // whether a timer waits for a processor, too
};

// Wall and steady time of the simulation, which begin together.
inline constexpr Time kStart{std::chrono::hours(1)};
inline cache::Time wall(Time now) {
  return cache::kStart + std::chrono::duration_cast<cache::Time::duration>(now - kStart);
}

struct Counts {
  std::uint64_t requests = 0;
  std::uint64_t origin = 0;
  std::uint64_t local = 0;
  std::uint64_t neighbours = 0;
  std::uint64_t joined = 0;  // waited for another request's fetch
  std::uint64_t false_claims = 0;
  std::uint64_t polls = 0;
  std::uint64_t failed_polls = 0;
  std::uint64_t polled_bytes = 0;
};

struct Clock {
  Time now = kStart;
};

struct Member {
  Member(const Shape& shape, std::uint32_t its_number, const Clock& clock,
         digest::RandomWords random);

  const std::uint32_t number;
  cache::Budget budget;
  peers::PeerDirectory directory;
  cache::Store store;
  tiers::Placement placement;
  tiers::StoreHoldings holdings{store};
  peers::Publisher publisher;
  peers::FirstByte origin_takes;
  sources::SiteLuck luck;
  sources::Hedges hedges;
  std::unordered_map<std::size_t, std::size_t> fetches;  // under way: URL to number
  fill::SiteFetches site_fetches;
};

inline std::vector<config::PeerSettings> others(const Shape& shape, std::uint32_t number) {
  std::vector<config::PeerSettings> all;
  for (std::uint32_t i = 0; i < shape.proxies; ++i) {
    if (i == number) continue;
    config::PeerSettings peer;
    peer.name = fmt::format("p{}", i);
    peer.host = fmt::format("10.0.0.{}", i + 1);
    peer.url = fmt::format("http://{}:3128", peer.host);
    peer.port = 3128;
    all.push_back(std::move(peer));
  }
  return all;
}

inline Member::Member(const Shape& shape, std::uint32_t its_number, const Clock& clock,
                      digest::RandomWords random)
    : number(its_number),
      budget(shape.memory << 20),
      directory(others(shape, its_number)),
      store(budget, {.changes = std::size_t{1} << 20,
                     .kept_elsewhere =
                         [this, &clock](const digest::Claim& claim) {
                           return directory.is_kept_elsewhere(claim.key, publisher.epoch(),
                                                              clock.now);
                         }}),
      placement(budget, &store.totals()),
      publisher(holdings, config::DigestSettings(), wall(clock.now), std::move(random)) {}

}  // namespace bench
