// Bytes that may be sent at a rate. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace proxy {

// Fills with time, up to what the rate allows in kSaved. So a pause is made up for at most once,
// and a thread that looks late loses nothing.
class TokenBucket {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::milliseconds kSaved{200};
  // The least that a bucket holds when it is full.
  static constexpr std::uint64_t kLeastFull = 16 * 1024;

  // Empty at `now`. `rate`: bytes per second.
  TokenBucket(std::uint64_t rate, Time now) : rate_(static_cast<double>(rate)), filled_(now) {}

  static TokenBucket full(std::uint64_t rate, Time now) {
    TokenBucket bucket(rate, now);
    bucket.bytes_ = bucket.most();
    return bucket;
  }

  // What may be taken at `now`, which never goes back.
  [[nodiscard]] std::uint64_t bytes(Time now) {
    const std::chrono::duration<double> elapsed = now - filled_;
    filled_ = now;
    put(rate_ * elapsed.count());
    return static_cast<std::uint64_t>(bytes_);
  }
  // Whether it holds as much as it can at `now`.
  [[nodiscard]] bool is_full(Time now) const {
    const std::chrono::duration<double> elapsed = now - filled_;
    return bytes_ + rate_ * elapsed.count() >= most();
  }
  // At most what bytes() has returned.
  void take(std::uint64_t bytes) { bytes_ -= static_cast<double>(bytes); }
  void give_back(std::uint64_t bytes) { put(static_cast<double>(bytes)); }

 private:
  [[nodiscard]] double most() const {
    const std::chrono::duration<double> saved = kSaved;
    return std::max(rate_ * saved.count(), static_cast<double>(kLeastFull));
  }
  void put(double bytes) { bytes_ = std::min(bytes_ + bytes, most()); }

  double rate_;
  double bytes_ = 0;
  Time filled_;
};

}  // namespace proxy
