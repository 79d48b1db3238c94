// What one I/O thread needs to ask origins and neighbours.
#pragma once

#include <random>
#include <string>

#include "config/expiring_table.hpp"
#include "peers/publisher.hpp"
#include "proxy/fill/fills.hpp"
#include "proxy/fill/site_fetches.hpp"
#include "proxy/net/deadlines.hpp"
#include "proxy/sources/choice_plan.hpp"
#include "proxy/tiers/cache.hpp"
#include "proxy/upstream/outgoing.hpp"

namespace proxy::sources {

// How long the origins take to the first byte, as far as one thread has seen. Not thread-safe.
class OriginTimes {
 public:
  using Time = peers::SteadyTime;
  // An estimate that is older than this counts as none.
  static constexpr std::chrono::minutes kFades{5};

  explicit OriginTimes(std::size_t capacity = 1024) : known_(capacity), luck_(capacity) {}

  [[nodiscard]] peers::FirstByte find(const upstream::Endpoint& origin, Time now) const {
    const auto* const known = known_.find(origin, now);
    return known ? *known : peers::FirstByte();
  }
  // Records that the origin answered, or timed out, after this time.
  void record(const upstream::Endpoint& origin, std::chrono::microseconds took, Time now) {
    known_.put(origin, find(origin, now).with(took), now + kFades);
  }

  // How often the origin's responses were being fetched by a neighbour, and the result of another
  // question about that.
  [[nodiscard]] SiteLuck luck_of(const upstream::Endpoint& origin, Time now) const {
    const auto* const luck = luck_.find(origin, now);
    return luck ? *luck : SiteLuck();
  }
  void record_luck(const upstream::Endpoint& origin, SiteLuck::Question question, Time now) {
    luck_.put(origin, luck_of(origin, now).with(question), now + kFades);
  }

 private:
  config::ExpiringTable<upstream::Endpoint, peers::FirstByte> known_;
  config::ExpiringTable<upstream::Endpoint, SiteLuck> luck_;  // questions do not renew the times
};

// One thread's state for questions of our own, for which no client waits (checking.hpp). Belongs to
// one thread.
struct Probes {
  static constexpr std::size_t kMostAtOnce = 16;  // further questions are not asked

  explicit Probes(std::uint64_t seed) : random(static_cast<std::uint32_t>(seed)) {}

  // Counts a question while it is under way.
  class Running {
   public:
    explicit Running(Probes& probes) : probes_(probes) { ++probes_.running; }
    ~Running() { --probes_.running; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    Probes& probes_;
  };

  // True in this share of the calls, 0 to 1.
  [[nodiscard]] bool chosen(double share) {
    return std::uniform_real_distribution<double>()(random) < share;
  }
  [[nodiscard]] bool full() const { return running >= kMostAtOnce; }

  std::minstd_rand random{1};  // the constructor gives the seed
  std::size_t running = 0;
};

// What all threads share, for their questions. Outlives them.
struct SharedSources {
  const std::string& name;  // of this proxy
  peers::Publisher& publisher;
  fill::SiteFetches& site_fetches;
  fill::UnsharedPaths& unshared_paths;
  upstream::Shared& servers;
};

// Belongs to one I/O thread, and outlives the questions that it asks.
struct SourceAccess {
  const SharedSources shared;
  tiers::CacheAccess& cache;
  upstream::Upstream& upstream;
  upstream::Guard& guard;
  upstream::Resolver& resolver;
  net::Executor executor;       // of the thread
  bool has_neighbours = false;  // else nobody asks how long origins take
  OriginTimes origin_times{};
  Hedges hedges{};
  Probes probes{1};  // a server gives another seed to each thread

  [[nodiscard]] peers::SteadyTime now() const { return cache.cache.clock.steady(); }
};

}  // namespace proxy::sources
