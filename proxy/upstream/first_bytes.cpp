#include "proxy/upstream/first_bytes.hpp"

#include <numeric>

namespace proxy::upstream {

std::optional<FirstBytes::Time> FirstBytes::quantile(double share) const {
  const auto all = std::accumulate(in_bucket_.begin(), in_bucket_.end(), std::uint64_t{0});
  if (all == 0) return std::nullopt;
  double before = share * static_cast<double>(all);
  std::size_t bucket = 0;
  while (bucket + 1 < kBuckets && before > in_bucket_[bucket]) before -= in_bucket_[bucket++];
  const double inside = std::min(1.0, before / std::max(1U, in_bucket_[bucket]));
  const double begin = begin_of(bucket);
  const double units = begin + inside * (begin_of(bucket + 1) - begin);
  return Time(static_cast<std::int64_t>(units * kUnit));
}

}  // namespace proxy::upstream
