#include "proxy/observe/mirror_traffic.hpp"

#include <gtest/gtest.h>

namespace proxy::observe {
namespace {

using Time = MirrorTraffic::Time;

RequestRecord request_of(std::string_view recipe, Tag tag, Hierarchy hierarchy = Hierarchy::none) {
  RequestRecord record;
  record.recipe = recipe;
  record.tag = tag;
  record.hierarchy = hierarchy;
  record.bytes = 100;
  return record;
}

TEST(MirrorTraffic, CountsWhatTheUpstreamNeedNotSend) {
  const struct {
    Tag tag;
    Hierarchy hierarchy;
    bool saves;
  } cases[] = {
      {Tag::mem_hit, Hierarchy::none, true},
      {Tag::disk_hit, Hierarchy::none, true},
      {Tag::conditional_hit, Hierarchy::none, true},
      {Tag::refresh_unmodified, Hierarchy::direct, true},
      {Tag::stale_hit, Hierarchy::direct, true},
      {Tag::miss, Hierarchy::sibling, true},
      {Tag::miss, Hierarchy::parent_hit, true},
      {Tag::miss, Hierarchy::direct, false},
      {Tag::miss, Hierarchy::parent, false},
      {Tag::refresh_modified, Hierarchy::direct, false},
      {Tag::failed, Hierarchy::direct, false},
  };
  for (const auto& c : cases) {
    MirrorTraffic traffic;
    traffic.record(request_of("oci", c.tag, c.hierarchy), Time());
    const auto told = traffic.tell().at("oci");
    EXPECT_EQ(told.requests, 1U);
    EXPECT_EQ(told.hits, c.saves ? 1U : 0U) << static_cast<int>(c.tag);
    EXPECT_EQ(told.bytes_saved, c.saves ? 100U : 0U) << static_cast<int>(c.tag);
  }
}

TEST(MirrorTraffic, IsApartForEachRecipe) {
  MirrorTraffic traffic;
  for (const char* recipe : {"oci", "hf", "oci", ""})
    traffic.record(request_of(recipe, Tag::mem_hit), Time());
  const auto told = traffic.tell();
  EXPECT_EQ(told.size(), 2U);
  EXPECT_EQ(told.at("oci").requests, 2U);
  EXPECT_EQ(told.at("hf").requests, 1U);
}

TEST(MirrorTraffic, KeepsTheLastFailureOfTheUpstream) {
  using std::chrono::seconds;
  MirrorTraffic traffic;
  const auto told = [&] { return traffic.tell().at("hf"); };
  auto record = request_of("hf", Tag::failed);
  record.upstream_host = "h.test";
  record.failure = "timed-out";
  traffic.record(record, Time(seconds(1)));
  EXPECT_EQ(told().last_failure, "h.test: timed-out");
  traffic.record(request_of("hf", Tag::mem_hit), Time(seconds(2)));
  EXPECT_EQ(told().failed_at, Time(seconds(1)));
  record = request_of("hf", Tag::stale_hit);
  record.upstream_host = "h.test";
  record.told.detail = "rule/hf-file stale-if-error/unreachable x";
  traffic.record(record, Time(seconds(3)));
  EXPECT_EQ(told().last_failure, "h.test: unreachable");
  record.told.fwd_status = 429;
  traffic.record(record, Time(seconds(4)));
  EXPECT_EQ(told().last_failure, "h.test: 429");
  EXPECT_EQ(told().failed_at, Time(seconds(4)));
}

}  // namespace
}  // namespace proxy::observe
