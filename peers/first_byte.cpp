#include "peers/first_byte.hpp"

#include <algorithm>

namespace peers {
namespace {

constexpr std::int64_t kLongest = (std::int64_t{1} << 31) - 1;
constexpr std::uint64_t kPart = (std::uint64_t{1} << 31) - 1;

}  // namespace

FirstByte FirstByte::with(Time sample) const {
  const auto time = std::clamp<std::int64_t>(sample.count(), 0, kLongest);
  const bool forget = samples_ == 1 && 2 * time < mean_;
  FirstByte next;
  next.samples_ = samples_ == 0 ? 1 : 2;
  if (samples_ == 0 || forget) {
    next.mean_ = static_cast<std::uint32_t>(time);
    next.deviation_ = next.mean_ / 2;
    return next;
  }
  const std::int64_t mean = mean_;
  const std::int64_t deviation = deviation_;
  const std::int64_t off = std::max(time - mean, mean - time);
  next.mean_ = static_cast<std::uint32_t>(mean + (time - mean) / 8);
  next.deviation_ = static_cast<std::uint32_t>(deviation + (off - deviation) / 8);
  return next;
}

FirstByte FirstByte::with_at_least(Time waited) const {
  return measured() && waited <= mean() ? *this : with(waited);
}

std::uint64_t FirstByte::packed() const {
  return std::uint64_t{samples_} << 62 | std::uint64_t{deviation_} << 31 | mean_;
}

FirstByte FirstByte::from(std::uint64_t packed) {
  FirstByte estimate;
  estimate.mean_ = static_cast<std::uint32_t>(packed & kPart);
  estimate.deviation_ = static_cast<std::uint32_t>(packed >> 31 & kPart);
  estimate.samples_ = static_cast<std::uint8_t>(packed >> 62);
  return estimate;
}

}  // namespace peers
