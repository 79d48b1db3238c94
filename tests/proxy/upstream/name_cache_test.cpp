#include "proxy/upstream/name_cache.hpp"

#include <gtest/gtest.h>

#include "proxy/upstream/error.hpp"

namespace proxy::upstream {
namespace {

using namespace std::chrono_literals;

const NameCache::Clock::time_point kAsked{1h};

Addresses list(const char* address) {
  return {boost::asio::ip::make_address(address)};
}

TEST(NameCache, KnowsAnAnswerUntilItsTimeIsOver) {
  NameCache cache(4);
  cache.put("a", list("192.0.2.1"), kAsked + 5s);
  ASSERT_TRUE(cache.find("a", kAsked + 4s));
  EXPECT_EQ(cache.find("a", kAsked + 4s)->value(), list("192.0.2.1"));
  EXPECT_FALSE(cache.find("a", kAsked + 5s));
  EXPECT_FALSE(cache.find("b", kAsked));
}

TEST(NameCache, KnowsFailuresToo) {
  NameCache cache(4);
  cache.put("a", Errc::name_not_found, kAsked + 1s);
  ASSERT_TRUE(cache.find("a", kAsked));
  EXPECT_EQ(cache.find("a", kAsked)->error(), Errc::name_not_found);
}

TEST(NameCache, PrefersTheNewerAnswer) {
  NameCache cache(4);
  cache.put("a", list("192.0.2.1"), kAsked + 5s);
  cache.put("a", list("192.0.2.2"), kAsked + 9s);
  ASSERT_TRUE(cache.find("a", kAsked + 6s));
  EXPECT_EQ(cache.find("a", kAsked + 6s)->value(), list("192.0.2.2"));
}

TEST(NameCache, ForgetsTheOldestBeyondItsCapacity) {
  NameCache cache(2);
  cache.put("a", list("192.0.2.1"), kAsked + 5s);
  cache.put("b", list("192.0.2.2"), kAsked + 5s);
  cache.put("a", list("192.0.2.3"), kAsked + 5s);
  cache.put("c", list("192.0.2.4"), kAsked + 5s);
  EXPECT_TRUE(cache.find("a", kAsked));
  EXPECT_FALSE(cache.find("b", kAsked));
  EXPECT_TRUE(cache.find("c", kAsked));
}

}  // namespace
}  // namespace proxy::upstream
