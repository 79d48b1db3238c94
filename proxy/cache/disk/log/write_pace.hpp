// How fast the disk writes. It has no clock of its own: the caller measures.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace proxy::cache::disk {

class WritePace {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // Notes one write. The pace is a weighted average: kWindow bytes weigh as much as all earlier
  // writes. A small write that is slow does not count: its time went into a seek, or into waking a
  // thread.
  void note(std::uint64_t bytes, Duration elapsed) {
    const double written = static_cast<double>(bytes);
    const double seconds = std::chrono::duration<double>(elapsed).count();
    const bool slower = seconds * kWindow > seconds_ * written;
    if (slower && bytes < kFew && elapsed < kBriefly) return;
    seconds_ = std::max(kLeastSeconds, (seconds_ + seconds) * kWindow / (kWindow + written));
  }

  // How many bytes the disk writes in this time: nearly unlimited until the first writes are noted.
  [[nodiscard]] std::uint64_t bytes_in(Duration time) const {
    return static_cast<std::uint64_t>(kWindow * std::chrono::duration<double>(time).count() /
                                      seconds_);
  }

 private:
  static constexpr double kWindow = 4 << 20;
  static constexpr double kLeastSeconds = 1e-6;
  static constexpr std::uint64_t kFew = std::uint64_t{256} << 10;
  static constexpr std::chrono::milliseconds kBriefly{50};

  double seconds_ = kLeastSeconds;  // to write kWindow bytes
};

}  // namespace proxy::cache::disk
