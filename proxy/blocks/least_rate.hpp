// Whether the source of a body is fast enough. Pure.
#pragma once

#include <chrono>
#include <cstdint>

namespace proxy {

// In bytes per second. A sibling whose body is slower does not help.
inline constexpr std::uint64_t kLeastSiblingRate = 64 * 1024;

// Over less time, a rate means nothing.
inline constexpr std::chrono::seconds kRateGrace{1};

// Counts only the time spent waiting for bytes, so that a slow reader does not make its source look
// slow.
class LeastRate {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // `grace`: how much longer the source may take than the rate requires.
  LeastRate(std::uint64_t bytes_per_second, std::chrono::milliseconds grace)
      : bytes_per_second_(bytes_per_second), grace_(grace) {}

  void note(std::uint64_t bytes, Duration waited) {
    bytes_ += bytes;
    waited_ += waited;
  }
  [[nodiscard]] bool missed() const {
    return waited_ > grace_ + std::chrono::milliseconds(bytes_ * 1000 / bytes_per_second_);
  }

 private:
  std::uint64_t bytes_per_second_;
  std::chrono::milliseconds grace_;
  std::uint64_t bytes_ = 0;
  Duration waited_{};
};

}  // namespace proxy
