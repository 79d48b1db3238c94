// What the soak's origin has, how it changes, and which answers are right.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/message.hpp"
#include "tests/support/reply.hpp"

namespace soak {

using Clock = std::chrono::steady_clock;

// A model of the origin: resources, each with a history of versions. A right answer has the bytes
// of a version that may still be fresh, and that no purge at the answering proxy has overtaken. Any
// thread.
class World {
 public:
  static constexpr std::size_t kSmall = 4'000;  // of 200 bytes to 60 KiB
  static constexpr std::size_t kLarge = 16;     // of 2 to 6 MiB
  static constexpr std::chrono::seconds kMaxAge{20};

  World() : history_(kSmall + kLarge, History{{0, Clock::now() - std::chrono::hours(1)}}) {}

  static std::string path_of(std::size_t resource) { return "/" + std::to_string(resource); }
  static bool is_large(std::size_t resource) { return resource >= kSmall; }
  static std::uint64_t size_of(std::size_t resource);

  // The origin's answer, by the version that is current now. While the origin fails: 503.
  support::Reply answer(const support::Request& request) const;
  // The resource gets a new version.
  void change(std::size_t resource);
  // A proxy has confirmed a purge of the resource: it gives no earlier version any more.
  void purged(std::size_t proxy, std::size_t resource);
  void fail(bool is_so);
  // Whether the origin has failed at any time since.
  bool failed_since(Clock::time_point time) const;

  // What is wrong with a 200 or 206 that this proxy gave to a request sent at `asked`; empty:
  // nothing.
  std::string fault_of(const support::Response& response, std::size_t proxy, std::size_t resource,
                       Clock::time_point asked) const;

 private:
  using Version = std::uint64_t;
  using History = std::vector<std::pair<Version, Clock::time_point>>;  // current from then on
  struct Purge {
    Version least;
    Clock::time_point at;
  };

  Version current(std::size_t resource) const;
  bool changed_since(std::size_t resource, Clock::time_point time) const;  // a large one
  std::string age_fault(Version version, std::size_t proxy, std::size_t resource,
                        Clock::time_point asked) const;

  mutable std::mutex mutex_;  // guards all members below
  std::vector<History> history_;
  std::map<std::pair<std::size_t, std::size_t>, Purge> purges_;  // by proxy and resource
  bool failing_ = false;
  Clock::time_point last_failure_{};
};

}  // namespace soak
