#include "proxy/fill/site_fetches.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace proxy::fill {
namespace {

using namespace std::chrono_literals;

const SiteFetches::Time kAsked{1000s};

digest::Key site_key(int number) {
  return digest::key_of(digest::Method::get, "http://a/" + std::to_string(number));
}

TEST(SiteFetches, NameTheFirstAskerUntilItsTimeIsOver) {
  const auto fetches = std::make_unique<SiteFetches>();
  EXPECT_EQ(fetches->fetcher_of(site_key(1), kAsked), std::nullopt);
  EXPECT_EQ(fetches->enter(site_key(1), 7, kAsked), 7U);
  EXPECT_EQ(fetches->enter(site_key(1), 8, kAsked + 1s), 7U);
  EXPECT_EQ(fetches->fetcher_of(site_key(1), kAsked + 1s), 7U);
  EXPECT_EQ(fetches->fetcher_of(site_key(2), kAsked + 1s), std::nullopt);
  EXPECT_EQ(fetches->enter(site_key(1), 8, kAsked + SiteFetches::kKept), 8U);
}

TEST(SiteFetches, MayForgetAFetchButNeverMistakeItForAnother) {
  const auto fetches = std::make_unique<SiteFetches>();
  constexpr int kKeys = 3 * SiteFetches::kMost;
  for (int i = 0; i < kKeys; ++i) fetches->enter(site_key(i), static_cast<peers::Epoch>(i), kAsked);
  std::size_t known = 0;
  for (int i = 0; i < kKeys; ++i) {
    const auto fetcher = fetches->fetcher_of(site_key(i), kAsked);
    if (!fetcher) continue;
    EXPECT_EQ(*fetcher, static_cast<peers::Epoch>(i));
    ++known;
  }
  EXPECT_LE(known, SiteFetches::kMost);
  EXPECT_GT(known, SiteFetches::kMost / 2);
}

}  // namespace
}  // namespace proxy::fill
