// What the clients of mirrors got, by recipe: for the dashboard and the metrics.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "peers/threads/mutex.hpp"
#include "proxy/observe/request_record.hpp"

namespace proxy::observe {

struct RecipeTraffic {
  std::uint64_t requests = 0;
  std::uint64_t hits = 0;         // answered by this cache or a neighbour's
  std::uint64_t bytes_saved = 0;  // that hits sent
  std::string last_failure = {};  // of the upstream: "HOST: timed-out"; empty: none
  std::chrono::system_clock::time_point failed_at{};
};

// Bounded: the settings name the recipes. Any thread.
class MirrorTraffic {
 public:
  using Time = std::chrono::system_clock::time_point;

  // Counts a request that has ended at `now`, if its record names a recipe.
  void record(const RequestRecord& record, Time now) EXCLUDES(mutex_);
  [[nodiscard]] std::map<std::string, RecipeTraffic, std::less<>> tell() const EXCLUDES(mutex_);

 private:
  mutable threads::Mutex mutex_;
  std::map<std::string, RecipeTraffic, std::less<>> all_ GUARDED_BY(mutex_);
};

}  // namespace proxy::observe
