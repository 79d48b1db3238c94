#include "proxy/observe/metrics.hpp"

#include <gtest/gtest.h>

namespace proxy::observe {
namespace {

using namespace std::chrono_literals;

std::string samples_of(const std::vector<const Histogram*>& histograms) {
  Histogram::Reading reading;
  for (const auto* const one : histograms) reading.add(*one);
  std::string text;
  append_samples(text, "t", "a=\"b\"", reading);
  return text;
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Histogram, CountsATimeInEachBucketWhoseBoundIsNotLess) {
  Histogram times;
  times.add(50us);
  times.add(51us);
  times.add(-1s);
  const auto text = samples_of({&times});
  EXPECT_TRUE(has(text, "t_bucket{a=\"b\",le=\"5e-05\"} 2\n")) << text;
  EXPECT_TRUE(has(text, "t_bucket{a=\"b\",le=\"0.0001\"} 3\n")) << text;
  EXPECT_TRUE(has(text, "t_bucket{a=\"b\",le=\"60\"} 3\n")) << text;
  EXPECT_TRUE(has(text, "t_sum{a=\"b\"} 0.000101\n")) << text;
}

TEST(Histogram, AddsUpThoseOfAllThreadsAndKeepsWhatIsLongerThanAllBounds) {
  Histogram one;
  Histogram other;
  one.add(1s);
  other.add(61s);
  const auto text = samples_of({&one, &other});
  EXPECT_TRUE(has(text, "t_bucket{a=\"b\",le=\"60\"} 1\n")) << text;
  EXPECT_TRUE(has(text, "t_bucket{a=\"b\",le=\"+Inf\"} 2\n")) << text;
  EXPECT_TRUE(has(text, "t_sum{a=\"b\"} 62\nt_count{a=\"b\"} 2\n")) << text;
}

}  // namespace
}  // namespace proxy::observe
