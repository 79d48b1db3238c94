#include "proxy/observe/histogram.hpp"

#include <fmt/format.h>

#include <iterator>

namespace proxy {
namespace {

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

void Histogram::Reading::add(const Histogram& other) {
  for (std::size_t i = 0; i < in_bucket.size(); ++i) in_bucket[i] += other.in_bucket_[i].get();
  sum += Time(other.sum_.get());
}

// The count is that of the buckets, so that the samples agree while threads count on.
void append_samples(std::string& out, std::string_view name, std::string_view labels,
                    const Histogram::Reading& reading) {
  const auto at = std::back_inserter(out);
  std::uint64_t up_to = 0;
  for (std::size_t i = 0; i < Histogram::kBounds.size(); ++i) {
    up_to += reading.in_bucket[i];
    fmt::format_to(at, "{}_bucket{{{},le=\"{}\"}} {}\n", name, labels,
                   seconds(Histogram::kBounds[i]), up_to);
  }
  up_to += reading.in_bucket.back();
  fmt::format_to(at,
                 "{0}_bucket{{{1},le=\"+Inf\"}} {2}\n{0}_sum{{{1}}} {3}\n{0}_count{{{1}}} {2}\n",
                 name, labels, up_to, seconds(reading.sum));
}

}  // namespace proxy
