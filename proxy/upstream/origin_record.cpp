#include "proxy/upstream/origin_record.hpp"

#include <numeric>

namespace proxy::upstream {
namespace {

std::int64_t number_of(OriginRecord::Clock::time_point now) {
  return now.time_since_epoch() / OriginRecord::kPeriod;
}

}  // namespace

void OriginSums::add(const OriginSums& other) {
  bytes += other.bytes;
  requests += other.requests;
  errors += other.errors;
  for (std::size_t cause = 0; cause < kFailures; ++cause) failures[cause] += other.failures[cause];
  first_bytes.add(other.first_bytes);
}

std::uint64_t OriginSums::failed() const {
  return std::accumulate(failures.begin(), failures.end(), std::uint64_t{errors});
}

OriginSums& OriginRecord::at(Clock::time_point now) {
  const auto number = number_of(now);
  if (periods_.empty() || periods_.back().number < number) {
    std::erase_if(periods_,
                  [number](const Period& one) { return one.number <= number - kPeriods; });
    periods_.push_back({number, {}});
  }
  return periods_.back().sums;
}

OriginSums OriginRecord::of_hour(Clock::time_point now) const {
  OriginSums sums;
  for (const auto& one : periods_) {
    if (one.number > number_of(now) - kPeriods) sums.add(one.sums);
  }
  return sums;
}

std::uint64_t OriginRecord::requests(Clock::time_point now) const {
  std::uint64_t requests = 0;
  for (const auto& one : periods_) {
    if (one.number > number_of(now) - kPeriods) requests += one.sums.requests;
  }
  return requests;
}

}  // namespace proxy::upstream
