#include "proxy/observe/events.hpp"

#include <gtest/gtest.h>

namespace proxy::observe {
namespace {

using namespace std::chrono_literals;
const EventLimit::Clock::time_point kMinute{1h};

TEST(KindOfEvent, IsTheSameForEventsThatDifferInNamesAndNumbers) {
  EXPECT_EQ(kind_of_event("block 7 of http://a/x on disk is damaged"),
            kind_of_event("block 12 of http://b/y on disk is damaged"));
  EXPECT_EQ(kind_of_event("origin http://a:80: cut"), kind_of_event("origin http://b:81: cut"));
  EXPECT_NE(kind_of_event("origin http://a:80: cut"),
            kind_of_event("origin http://a:80: unreachable"));
}

TEST(EventLimit, LetsSomeOfAKindPassInEachMinute) {
  EventLimit limit;
  for (unsigned i = 0; i < EventLimit::kMost; ++i) EXPECT_TRUE(limit.passes("a 1", kMinute));
  EXPECT_FALSE(limit.passes("a 2", kMinute + 59s));
  EXPECT_TRUE(limit.passes("b", kMinute + 59s)) << "another kind";
  limit.ended(kMinute + 60s);
  EXPECT_TRUE(limit.passes("a 3", kMinute + 60s));
}

TEST(EventLimit, TellsHowManyItHeldBackOnce) {
  EventLimit limit;
  for (unsigned i = 0; i < EventLimit::kMost + 3; ++i) {
    limit.passes("a " + std::to_string(i), kMinute);
  }
  EXPECT_TRUE(limit.ended(kMinute + 59s).empty());
  const auto ended = limit.ended(kMinute + 60s);
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended.front().number, 3U);
  EXPECT_EQ(ended.front().last, "a " + std::to_string(EventLimit::kMost + 2));
  EXPECT_TRUE(limit.ended(kMinute + 120s).empty());
}

TEST(EventLimit, KnowsSoManyKindsAndCountsTheOthersTogether) {
  EventLimit limit;
  const auto word = [](std::size_t i) {
    std::string text = "x";
    for (; i > 0; i /= 26) text += static_cast<char>('a' + i % 26);
    return text;
  };
  for (std::size_t i = 0; i < EventLimit::kKinds; ++i) {
    EXPECT_TRUE(limit.passes(word(i), kMinute));
  }
  std::size_t passed = 0;
  for (std::size_t i = 0; i < 100; ++i) {
    passed += limit.passes(word(EventLimit::kKinds + i), kMinute) ? 1 : 0;
  }
  EXPECT_EQ(passed, EventLimit::kMost);
}

TEST(Events, HaveTheirPriorityInTheJournalAlone) {
  EXPECT_EQ(priority(spdlog::level::critical), "<3>");
  EXPECT_EQ(priority(spdlog::level::err), "<3>");
  EXPECT_EQ(priority(spdlog::level::warn), "<4>");
  EXPECT_EQ(priority(spdlog::level::info), "");
  EXPECT_TRUE(is_journal("8:1234", 8, 1234));
  EXPECT_FALSE(is_journal("8:1234", 8, 123));
  EXPECT_FALSE(is_journal("9:1234", 8, 1234));
  EXPECT_FALSE(is_journal(nullptr, 8, 1234));
}

}  // namespace
}  // namespace proxy::observe
