// Whether a client sends its request fast enough. Pure.
#pragma once

#include <chrono>
#include <cstdint>

namespace proxy::crowd {

// Counts only the time spent waiting for the client, so that a slow origin does not make the client
// look slow. Judges the average over waits of `window` or a little more, so that a client may
// pause: only the first bytes after a pause show whether it was too long.
class ReceiptRate {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // A rate of 0 is never missed.
  ReceiptRate(std::uint64_t bytes_per_second, Duration window)
      : bytes_per_second_(bytes_per_second), window_(window) {}

  // Records that so many bytes arrived after a wait of `waited`. Returns whether the rate is met.
  enum class Met : std::uint8_t { yes, no };
  Met record(std::uint64_t bytes, Duration waited) {
    bytes_ += bytes;
    waited_ += waited;
    if (waited_ < window_) return Met::yes;
    const auto seconds = std::chrono::duration<double>(waited_).count();
    if (static_cast<double>(bytes_) < static_cast<double>(bytes_per_second_) * seconds)
      return Met::no;
    bytes_ = 0;
    waited_ = {};
    return Met::yes;
  }

 private:
  std::uint64_t bytes_per_second_;
  Duration window_;
  std::uint64_t bytes_ = 0;
  Duration waited_{};
};

}  // namespace proxy::crowd
