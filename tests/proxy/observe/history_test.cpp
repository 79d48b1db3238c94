#include "proxy/observe/history.hpp"

#include <gtest/gtest.h>

namespace proxy::observe {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr sys_seconds kBegin{seconds(1'700'000'040)};  // the end of a minute

std::size_t at(Series series) {
  return static_cast<std::size_t>(series);
}

Sample with_requests(std::uint64_t requests) {
  Sample totals{};
  totals[at(Series::requests)] = requests;
  return totals;
}

std::vector<std::uint64_t> requests_in(const History::Span& span) {
  std::vector<std::uint64_t> numbers;
  for (const auto& sample : span.samples) numbers.push_back(sample[at(Series::requests)]);
  return numbers;
}

using Numbers = std::vector<std::uint64_t>;

TEST(Totals, CountWhatClientsAskedForAndNotOurOwnPages) {
  Metrics metrics(2);
  const auto count = [&](std::size_t thread, Tag tag, std::uint64_t n) {
    metrics.of_thread(thread).requests[static_cast<std::size_t>(tag)].add(n);
  };
  count(0, Tag::mem_hit, 1);
  count(1, Tag::disk_hit, 2);
  count(1, Tag::conditional_hit, 4);
  count(0, Tag::miss, 8);
  count(0, Tag::failed, 16);
  count(0, Tag::none, 32);
  count(0, Tag::denied, 64);
  count(0, Tag::own_page, 1000);
  count(0, Tag::site_question, 1000);
  count(0, Tag::purge, 1000);
  const auto totals = totals_of(metrics);
  EXPECT_EQ(totals[at(Series::requests)], 127U);
  EXPECT_EQ(totals[at(Series::hits)], 7U);
  EXPECT_EQ(totals[at(Series::failed)], 16U) << "malformed requests do not count";
  EXPECT_EQ(totals[at(Series::refused)], 64U);
}

TEST(Totals, TellTheBytesOfNeighboursFromThoseOfOrigins) {
  Metrics metrics(1);
  auto& of_thread = metrics.of_thread(0);
  of_thread.bytes_sent.add(100);
  of_thread.bytes_from_cache.add(10);
  const auto receive = [&](Hierarchy source, std::uint64_t bytes) {
    of_thread.upstream_bytes[static_cast<std::size_t>(source)].add(bytes);
  };
  receive(Hierarchy::sibling, 1);
  receive(Hierarchy::parent_hit, 2);
  receive(Hierarchy::direct, 4);
  receive(Hierarchy::parent, 8);
  for (std::size_t cause = 0; cause <= upstream::kFailures; ++cause) of_thread.failed[cause].add();
  const auto totals = totals_of(metrics);
  EXPECT_EQ(totals[at(Series::failed_by_origins)], 5U)
      << "unreachable, timed out, cut, malformed, untrusted";
  EXPECT_EQ(totals[at(Series::sent_bytes)], 100U);
  EXPECT_EQ(totals[at(Series::cache_bytes)], 10U);
  EXPECT_EQ(totals[at(Series::neighbour_bytes)], 3U);
  EXPECT_EQ(totals[at(Series::origin_bytes)], 12U);
}

TEST(History, HasWhatEachSecondAdded) {
  History history;
  EXPECT_TRUE(history.hour().samples.empty());
  history.record(kBegin, with_requests(100));
  EXPECT_TRUE(history.hour().samples.empty()) << "what was before is not known";
  history.record(kBegin + seconds(1), with_requests(103));
  history.record(kBegin + seconds(2), with_requests(103));
  EXPECT_EQ(requests_in(history.hour()), (Numbers{3, 0}));
  EXPECT_EQ(history.hour().end, kBegin + seconds(2));
  EXPECT_EQ(history.latest().end, kBegin + seconds(2));
  EXPECT_EQ(history.latest().sample[at(Series::requests)], 0U);
}

TEST(History, SpreadsWhatALateNoteCounts) {
  History history;
  history.record(kBegin, with_requests(0));
  history.record(kBegin + seconds(3), with_requests(10));
  EXPECT_EQ(requests_in(history.hour()), (Numbers{3, 3, 4}));
}

TEST(History, IgnoresASecondThatItHas) {
  History history;
  history.record(kBegin, with_requests(0));
  history.record(kBegin + seconds(1), with_requests(1));
  history.record(kBegin + seconds(1), with_requests(5));
  history.record(kBegin, with_requests(6));
  history.record(kBegin + seconds(2), with_requests(7));
  EXPECT_EQ(requests_in(history.hour()), (Numbers{1, 6}));
}

TEST(History, SumsWholeMinutes) {
  History history;
  history.record(kBegin, with_requests(0));
  for (std::uint64_t i = 1; i <= 130; ++i)
    history.record(kBegin + seconds(i), with_requests(2 * i));
  EXPECT_EQ(requests_in(history.day()), (Numbers{120, 120}));
  EXPECT_EQ(history.day().end, kBegin + seconds(120));
  EXPECT_EQ(history.day().step, seconds(60));
}

TEST(History, LeavesOutTheMinuteInWhichItBegan) {
  History history;
  const auto begin = kBegin + seconds(30);
  history.record(begin, with_requests(0));
  for (std::uint64_t i = 1; i <= 89; ++i) history.record(begin + seconds(i), with_requests(i));
  EXPECT_TRUE(history.day().samples.empty());
  history.record(begin + seconds(90), with_requests(90));
  EXPECT_EQ(requests_in(history.day()), (Numbers{60}));
  EXPECT_EQ(history.day().end, kBegin + seconds(120));
}

TEST(History, KeepsAnHourOfSecondsAndADayOfMinutes) {
  History history;
  history.record(kBegin, with_requests(0));
  history.record(kBegin + seconds(86'400), with_requests(86'400));
  history.record(kBegin + seconds(90'000), with_requests(90'000));
  EXPECT_EQ(requests_in(history.hour()), Numbers(3600, 1));
  EXPECT_EQ(requests_in(history.day()), Numbers(1440, 60));
}

TEST(History, BeginsAnewAfterMoreThanADay) {
  History history;
  history.record(kBegin, with_requests(0));
  history.record(kBegin + seconds(1), with_requests(1));
  history.record(kBegin + seconds(90'000), with_requests(9));
  EXPECT_TRUE(history.hour().samples.empty());
}

}  // namespace
}  // namespace proxy::observe
