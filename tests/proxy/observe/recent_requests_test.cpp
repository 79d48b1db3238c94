#include "proxy/observe/recent_requests.hpp"

#include <gtest/gtest.h>

namespace proxy::observe {
namespace {

using namespace std::chrono_literals;

struct Answered {
  Tag tag = Tag::miss;
  std::string url = "http://a.test/x";
  std::chrono::milliseconds at{0};

  RequestRecord record() const {
    RequestRecord record;
    record.tag = tag;
    record.begun = std::chrono::steady_clock::time_point(1h) + at;
    return record;
  }
};

void record(RecentRequests::OfThread& thread, const Answered& answered) {
  const auto record = answered.record();
  if (!thread.wants(record)) return;
  thread.add({.ended = std::chrono::system_clock::time_point(answered.at),
              .took = 1ms,
              .client = "192.0.2.7",
              .method = "GET",
              .url = answered.url,
              .record = record});
}

std::vector<std::string> urls(const std::vector<RecentRequests::Found>& found) {
  std::vector<std::string> all;
  for (const auto& one : found) all.push_back(one.request->url);
  return all;
}
using Urls = std::vector<std::string>;

TEST(RecentRequests, AreOfAllThreadsInTheOrderOfTheirEnds) {
  RecentRequests recent;
  auto& first = recent.add_thread();
  auto& second = recent.add_thread();
  record(first, {.url = "1", .at = 1ms});
  record(second, {.url = "2", .at = 2ms});
  record(first, {.tag = Tag::failed, .url = "3", .at = 3ms});
  RecentRequests::Known known;
  EXPECT_EQ(urls(recent.newer_than(known)), (Urls{"1", "2", "3"}));
}

TEST(RecentRequests, AreToldAReaderOnce) {
  RecentRequests recent;
  auto& thread = recent.add_thread();
  RecentRequests::Known known;
  record(thread, {.url = "1"});
  EXPECT_EQ(recent.newer_than(known).size(), 1U);
  EXPECT_TRUE(recent.newer_than(known).empty());
  record(thread, {.tag = Tag::failed, .url = "2"});
  record(thread, {.url = "3"});
  EXPECT_EQ(urls(recent.newer_than(known)), (Urls{"2", "3"}));
}

TEST(RecentRequests, DoNotHideTheLastFailureBehindOthers) {
  RecentRequests recent;
  auto& thread = recent.add_thread();
  record(thread, {.tag = Tag::failed, .url = "failed"});
  for (int i = 0; i < 1000; ++i) {
    record(thread, {.tag = i % 2 ? Tag::miss : Tag::mem_hit, .at = 1s * i});
  }
  RecentRequests::Known known;
  const auto found = recent.newer_than(known);
  EXPECT_EQ(found.size(), 2 * RecentRequests::kMost + 1);
  EXPECT_EQ(found.front().request->url, "failed");
}

TEST(RecentRequests, TakeOnlySomeOfManyOfAKindInASecond) {
  for (const auto tag : {Tag::mem_hit, Tag::miss, Tag::denied, Tag::failed}) {
    RecentRequests recent;
    auto& thread = recent.add_thread();
    const auto taken = [&](std::chrono::milliseconds from) {
      std::size_t number = 0;
      for (int i = 0; i < 1000; ++i) {
        const auto record = Answered{.tag = tag, .at = from + 1ms * i}.record();
        number += thread.wants(record) ? 1 : 0;
      }
      return number;
    };
    EXPECT_EQ(taken(0s), RecentRequests::kMost) << squid_tag(tag);
    EXPECT_EQ(taken(1s), RecentRequests::kMost) << squid_tag(tag);
  }
}

TEST(RecentRequests, TakeAFailureAmongManyHitsAndMisses) {
  RecentRequests recent;
  auto& thread = recent.add_thread();
  for (int i = 0; i < 1000; ++i) record(thread, {.tag = i % 2 ? Tag::miss : Tag::mem_hit});
  EXPECT_TRUE(thread.wants(Answered{.tag = Tag::failed}.record()));
}

TEST(RecentRequests, AreNotOurOwnPages) {
  RecentRequests recent;
  auto& thread = recent.add_thread();
  record(thread, {.tag = Tag::own_page});
  record(thread, {.tag = Tag::site_question});
  RecentRequests::Known known;
  EXPECT_TRUE(recent.newer_than(known).empty());
}

TEST(RecentRequests, HoldNoMoreThanTheBeginningOfALongUrl) {
  RecentRequests recent;
  record(recent.add_thread(), {.url = std::string(60'000, 'x')});
  RecentRequests::Known known;
  EXPECT_EQ(recent.newer_than(known).front().request->url.size(), 1024U);
}

TEST(RecentRequests, HoldNoMemoryForTheKey) {
  RecentRequests recent;
  auto record = Answered{}.record();
  record.told.key.assign(60'000, 'x');
  record.asked.resize(100);
  recent.add_thread().add({.ended = {},
                           .took = 1ms,
                           .client = "192.0.2.7",
                           .method = "GET",
                           .url = "http://a.test/",
                           .record = record});
  RecentRequests::Known known;
  const auto kept = recent.newer_than(known).front().request;
  EXPECT_LT(kept->record.told.key.capacity(), 100U);
  EXPECT_EQ(kept->record.asked.capacity(), 0U);
}

}  // namespace
}  // namespace proxy::observe
