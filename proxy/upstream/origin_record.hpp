// What one origin did in the last hour.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "proxy/upstream/failure.hpp"
#include "proxy/upstream/first_bytes.hpp"

namespace proxy::upstream {

struct OriginSums {
  std::uint64_t bytes = 0;  // of bodies received
  std::uint32_t requests = 0;
  std::uint32_t errors = 0;                         // answers with a status from 500 on
  std::array<std::uint32_t, kFailures> failures{};  // requests without a whole answer, by cause
  FirstBytes first_bytes{};

  void add(const OriginSums& other);
  // Failures of any cause, and errors.
  [[nodiscard]] std::uint64_t failed() const;
};

// Counts by periods of ten minutes, so that the hour ends with a whole period. A period in which
// the origin was not asked takes no memory.
class OriginRecord {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::minutes kPeriod{10};
  static constexpr std::int64_t kPeriods = 6;  // the one under way included

  // The sums of the period under way.
  OriginSums& at(Clock::time_point now);
  [[nodiscard]] OriginSums of_hour(Clock::time_point now) const;
  [[nodiscard]] std::uint64_t requests(Clock::time_point now) const;

  Clock::time_point asked{};     // for the last time
  Clock::time_point answered{};  // its last head; 0: none

 private:
  struct Period {
    std::int64_t number;  // since the beginning of the clock
    OriginSums sums;
  };
  std::vector<Period> periods_;  // the oldest first
};

}  // namespace proxy::upstream
