#include "proxy/observe/metrics.hpp"

#include <gtest/gtest.h>

namespace proxy::observe {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock::time_point;

struct OutcomeCase {
  const char* name;
  Tag tag;
  std::optional<RequestOutcome> expected;
  Hierarchy hierarchy = Hierarchy::none;
  bool from_disk = false;
  unsigned status = 200;
};

class OutcomeOf : public testing::TestWithParam<OutcomeCase> {};

TEST_P(OutcomeOf, IsWhoAnswered) {
  const auto& tested = GetParam();
  RequestRecord record;
  record.tag = tested.tag;
  record.hierarchy = tested.hierarchy;
  record.from_disk = tested.from_disk;
  record.status = tested.status;
  EXPECT_EQ(outcome_of(record), tested.expected);
}

INSTANTIATE_TEST_SUITE_P(
    Requests, OutcomeOf,
    testing::Values(
        OutcomeCase{"Memory", Tag::mem_hit, RequestOutcome::hit},
        OutcomeCase{"Disk", Tag::disk_hit, RequestOutcome::disk_hit},
        OutcomeCase{"NotModified", Tag::conditional_hit, RequestOutcome::hit},
        OutcomeCase{"NotModifiedByDisk", Tag::conditional_hit, RequestOutcome::disk_hit,
                    Hierarchy::none, true},
        OutcomeCase{"Origin", Tag::miss, RequestOutcome::origin, Hierarchy::direct},
        OutcomeCase{"Sibling", Tag::miss, RequestOutcome::neighbour, Hierarchy::sibling},
        OutcomeCase{"ParentsStore", Tag::miss, RequestOutcome::neighbour, Hierarchy::parent_hit},
        OutcomeCase{"Parent", Tag::miss, RequestOutcome::parent, Hierarchy::parent},
        OutcomeCase{"Validated", Tag::refresh_unmodified, RequestOutcome::origin,
                    Hierarchy::direct},
        OutcomeCase{"Failed", Tag::failed, RequestOutcome::failed, Hierarchy::direct, false, 502},
        OutcomeCase{"WebSocket", Tag::miss, std::nullopt, Hierarchy::direct, false, 101},
        OutcomeCase{"OnlyIfCached", Tag::miss, std::nullopt, Hierarchy::none, false, 504},
        OutcomeCase{"OwnPage", Tag::own_page, std::nullopt},
        OutcomeCase{"Denied", Tag::denied, std::nullopt, Hierarchy::none, false, 403},
        OutcomeCase{"Tunnel", Tag::tunnel, std::nullopt, Hierarchy::direct}),
    [](const auto& tested) { return tested.param.name; });

TEST(CountRequest, CountsAFailureByItsCause) {
  Metrics metrics(1);
  auto& counters = metrics.of_thread(0);
  RequestRecord record;
  record.tag = Tag::failed;
  record.failure = upstream::word(upstream::Failure::What::cut);
  count_request(counters, record, Steady{});
  record.failure = {};
  count_request(counters, record, Steady{});
  record.tag = Tag::stale_hit;
  record.failure = upstream::word(upstream::Failure::What::cut);
  count_request(counters, record, Steady{});
  EXPECT_EQ(counters.failed[static_cast<std::size_t>(upstream::Failure::What::cut)].get(), 1U);
  EXPECT_EQ(counters.failed[upstream::kFailures].get(), 1U);
  EXPECT_EQ(counters.requests[static_cast<std::size_t>(Tag::failed)].get(), 2U);
}

std::string text_after(const RequestRecord& record, Steady now) {
  Metrics metrics(2);
  count_request(metrics.of_thread(1), record, now);
  std::string text;
  append_request_metrics(text, metrics);
  return text;
}

bool tells(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

RequestRecord miss() {
  RequestRecord record;
  record.tag = Tag::miss;
  record.hierarchy = Hierarchy::direct;
  record.status = 404;
  record.begun = Steady(1s);
  record.first_byte = Steady(1s + 20ms);
  return record;
}

TEST(RequestMetrics, CountBothTimesOfARequest) {
  const auto text = text_after(miss(), Steady(1s + 300ms));
  EXPECT_TRUE(tells(text, "first_byte_seconds_sum{outcome=\"origin\"} 0.02\n")) << text;
  EXPECT_TRUE(tells(text, "duration_seconds_sum{outcome=\"origin\"} 0.3\n")) << text;
  EXPECT_TRUE(tells(text, "hearsay_responses_total{class=\"4xx\"} 1\n")) << text;
}

TEST(RequestMetrics, CountANeighboursQuestionInNoClassOfResponses) {
  auto record = miss();
  record.status = 504;
  EXPECT_TRUE(tells(text_after(record, Steady(2s)), "hearsay_responses_total{class=\"5xx\"} 1\n"));
  record.tag = Tag::site_question;
  record.question = true;
  const auto text = text_after(record, Steady(2s));
  EXPECT_TRUE(tells(text, "hearsay_responses_total{class=\"5xx\"} 0\n")) << text;
  EXPECT_TRUE(tells(text, "duration_seconds_count{outcome=\"origin\"} 0\n")) << text;
}

TEST(RequestMetrics, CountNoTimeOfARequestThatGotNothing) {
  auto record = miss();
  record.status = 0;
  record.first_byte = {};
  const auto text = text_after(record, Steady(9s));
  EXPECT_TRUE(tells(text, "duration_seconds_count{outcome=\"origin\"} 0\n")) << text;
}

TEST(RequestMetrics, NameEachReasonForWhichNothingIsStored) {
  Metrics metrics(1);
  metrics.of_thread(0).count(cache::Storability::max_age);
  metrics.of_thread(0).count(cache::Storability::yes);
  std::string text;
  append_request_metrics(text, metrics);
  EXPECT_TRUE(tells(text, "hearsay_not_stored_total{reason=\"max-age\"} 1\n")) << text;
  EXPECT_FALSE(tells(text, "reason=\"yes\"")) << text;
  EXPECT_EQ(metrics.of_thread(0).stored.get(), 1U);
}

}  // namespace
}  // namespace proxy::observe
