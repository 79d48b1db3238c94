// How long a source takes to the first byte of its answer.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace peers {

// A decaying mean of the times measured, and their mean deviation from it. Pure.
class FirstByte {
 public:
  using Time = std::chrono::microseconds;

  FirstByte() = default;  // nothing is measured

  // The estimate after another time was measured. A first time of which the second is less than
  // half is forgotten: it had to resolve a name, to connect, or to wait for a cold disk.
  [[nodiscard]] FirstByte with(Time sample) const {
    const auto time = std::clamp<std::int64_t>(sample.count(), 0, kLongest);
    const bool forget = samples_ == 1 && 2 * time < mean_;
    if (samples_ == 0 || forget) return {time, time / 2, samples_ == 0 ? 1 : 2};
    const std::int64_t off = std::max(time - mean_, mean_ - time);
    return {mean_ + (time - mean_) / 8, deviation_ + (off - deviation_) / 8, 2};
  }
  // The estimate after the source was given up, so that its time is at least `waited`.
  [[nodiscard]] FirstByte with_at_least(Time waited) const {
    return measured() && waited <= mean() ? *this : with(waited);
  }

  [[nodiscard]] bool measured() const { return samples_ > 0; }
  [[nodiscard]] Time mean() const { return Time(mean_); }
  // About 19 of 20 answers take no longer.
  [[nodiscard]] Time p95() const { return Time(mean_ + 2 * deviation_); }

  // The estimate as one word, which threads may share in one atomic. 0: nothing is measured.
  [[nodiscard]] std::uint64_t packed() const {
    return static_cast<std::uint64_t>(samples_) << 62U |
           static_cast<std::uint64_t>(deviation_) << 31U | static_cast<std::uint64_t>(mean_);
  }
  static FirstByte from(std::uint64_t packed) {
    return {static_cast<std::int64_t>(packed & kPart),
            static_cast<std::int64_t>(packed >> 31U & kPart),
            static_cast<std::int64_t>(packed >> 62U)};
  }

 private:
  static constexpr std::uint64_t kPart = (std::uint64_t{1} << 31U) - 1;
  static constexpr std::int64_t kLongest{kPart};  // 36 minutes

  FirstByte(std::int64_t mean, std::int64_t deviation, std::int64_t samples)
      : mean_(mean), deviation_(deviation), samples_(samples) {}

  std::int64_t mean_ = 0;       // microseconds, at most kLongest
  std::int64_t deviation_ = 0;  // likewise
  std::int64_t samples_ = 0;    // 2: two or more
};

// A source counts as near if its first byte mostly takes no longer than this.
inline constexpr FirstByte::Time kNear{5'000};

}  // namespace peers
