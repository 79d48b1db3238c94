// Which origins refuse the ranges that we ask for in place of the clients'.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace proxy::upstream {

// Whether an answer with this status may be due to the range that was asked for. Pure.
constexpr bool may_refuse_range(unsigned status) {
  return status >= 400 && status != 429 && status != 503;
}

// A table of kMost origins, each named by host and port. An origin is known to refuse once it has
// refused another range than the client's and then granted the client's own. It is forgotten kKept
// later, or when another origin takes its place. Any thread, without a lock.
class RangeRefusals {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMost = 256;
  static constexpr std::chrono::minutes kKept{60};

  // The origin has answered another range than the client's by an error, or has hung up. It may be
  // about to refuse the client, too.
  void note_refused(std::string_view origin, Clock::time_point now);
  // The origin has answered the client's own range, after another one was of no use. Has no effect
  // unless the origin has refused that one.
  void note_granted(std::string_view origin, Clock::time_point now);
  // Whether the origin is known to refuse other ranges than the client's.
  [[nodiscard]] bool has(std::string_view origin, Clock::time_point now) const;

 private:
  std::atomic<bool> any_{false};
  // By the hash of the name: its upper half, the minute of the refusal, and whether the origin is
  // known to refuse.
  std::array<std::atomic<std::uint64_t>, kMost> slots_{};
};

}  // namespace proxy::upstream
