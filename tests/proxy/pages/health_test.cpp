#include "proxy/pages/health.hpp"

#include <gtest/gtest.h>

namespace proxy {
namespace {

using namespace std::chrono_literals;
using Failing = upstream::OriginHealth::Failing;

const std::chrono::steady_clock::time_point kNow{10'000s};

TEST(OriginTroubles, SayForHowLongTheOriginFails) {
  const auto text = [](std::chrono::milliseconds ago) {
    const auto all = origin_troubles(
        {{"http://a.test:80", Failure::What::unreachable, 4, kNow - ago, kNow}}, kNow);
    return all.size() == 1 ? all[0].text : "";
  };
  EXPECT_EQ(text(0ms),
            "4 requests in a row failed in the last 1 s: the server could not be reached");
  EXPECT_EQ(text(1500ms),
            "4 requests in a row failed in the last 2 s: the server could not be reached");
  EXPECT_EQ(text(3h),
            "4 requests in a row failed in the last 3 hours: the server could not be reached");
}

TEST(OriginTroubles, NameSomeAndCountTheOthers) {
  std::vector<Failing> failing(kMostOrigins,
                               {"http://a.test:80", Failure::What::cut, 3, kNow, kNow});
  EXPECT_EQ(origin_troubles(failing, kNow).size(), kMostOrigins);
  failing.resize(kMostOrigins + 40, failing[0]);
  const auto all = origin_troubles(failing, kNow);
  ASSERT_EQ(all.size(), kMostOrigins + 1);
  EXPECT_EQ(all.back().text, "and 40 more");
  std::size_t number = 0;
  for (const auto& one : all) number += one.number;
  EXPECT_EQ(number, failing.size());
}

}  // namespace
}  // namespace proxy
