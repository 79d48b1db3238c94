#include "proxy/observe/request_record.hpp"

#include <gtest/gtest.h>

#include <set>

namespace proxy::observe {
namespace {

TEST(Tag, HasOneNameForEachAnswerInLogsAndMetrics) {
  std::set<std::string_view> squid;
  std::set<std::string_view> metric;
  for (std::size_t i = 0; i < kTags; ++i) {
    squid.insert(squid_tag(static_cast<Tag>(i)));
    metric.insert(metric_tag(static_cast<Tag>(i)));
  }
  EXPECT_EQ(squid.size(), kTags - 3) << "Squid has no words of its own for some";
  EXPECT_EQ(metric.size(), kTags);
  EXPECT_EQ(static_cast<std::size_t>(Tag::site_question), kTags - 1);
}

// Log analysers know these.
TEST(Tag, IsSpelledAsSquidSpellsIt) {
  EXPECT_EQ(squid_tag(Tag::mem_hit), "TCP_MEM_HIT");
  EXPECT_EQ(squid_tag(Tag::disk_hit), "TCP_HIT");
  EXPECT_EQ(squid_tag(Tag::miss), "TCP_MISS");
  EXPECT_EQ(squid_tag(Tag::denied), "TCP_DENIED");
  EXPECT_EQ(squid_tag(Tag::tunnel), "TCP_TUNNEL");
  EXPECT_EQ(squid_tag(Tag::own_page), "NONE_NONE") << "a page of ours is no hit";
  EXPECT_EQ(squid_tag(Tag::purge), "TCP_MISS");
  EXPECT_EQ(squid_tag(Tag::site_question), "UDP_SITE_QUESTION");
}

TEST(Hierarchy, IsSpelledAsSquidSpellsIt) {
  EXPECT_EQ(squid_code(Hierarchy::none), "HIER_NONE");
  EXPECT_EQ(squid_code(Hierarchy::direct), "HIER_DIRECT");
  EXPECT_EQ(squid_code(Hierarchy::sibling), "CD_SIBLING_HIT");
  EXPECT_EQ(squid_code(Hierarchy::parent_hit), "CD_PARENT_HIT");
  EXPECT_EQ(squid_code(Hierarchy::parent), "CARP");
  EXPECT_EQ(static_cast<std::size_t>(Hierarchy::parent), kHierarchies - 1);
}

}  // namespace
}  // namespace proxy::observe
