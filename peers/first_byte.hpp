// How long a source takes to the first byte of its answer.
#pragma once

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
  [[nodiscard]] FirstByte with(Time sample) const;
  // The estimate after the source was given up, so that its time is at least `waited`.
  [[nodiscard]] FirstByte with_at_least(Time waited) const;

  [[nodiscard]] bool measured() const { return samples_ > 0; }
  [[nodiscard]] Time mean() const { return Time(mean_); }
  // About 19 of 20 answers take no longer.
  [[nodiscard]] Time p95() const {
    return Time(std::int64_t{mean_} + 2 * std::int64_t{deviation_});
  }

  // All of it in one word, so that threads may share it in one atomic. 0: nothing is measured.
  [[nodiscard]] std::uint64_t packed() const;
  static FirstByte from(std::uint64_t packed);

 private:
  std::uint32_t mean_ = 0;       // microseconds, below 2^31
  std::uint32_t deviation_ = 0;  // likewise
  std::uint8_t samples_ = 0;     // 2: two or more
};

}  // namespace peers
