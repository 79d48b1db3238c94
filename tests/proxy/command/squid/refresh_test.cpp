#include "proxy/command/squid/parts.hpp"

#include "tests/proxy/command/squid/given_files.hpp"

namespace proxy::command::squid {
namespace {

std::string rules(std::string_view lines) {
  const std::string all = settings_of(imported(lines));
  const auto begin = all.find("\"rules\":[{\"name\"");
  return begin == all.npos ? "" : all.substr(begin + 8, all.find(",\"access\"") - begin - 8);
}

TEST(SquidRefresh, BecomesARuleWhereItOverridesTheOrigin) {
  EXPECT_EQ(rules("refresh_pattern -i \\.deb$ 1440 20% 2880 override-expire"),
            R"([{"name":"squid-1-0","host":"*","paths":["*.deb"],"min_fresh":"1d"}])");
  EXPECT_EQ(
      rules("refresh_pattern ^http://a\\.b/ 0 0% 0 ignore-reload ignore-auth"),
      R"([{"name":"squid-1-0","host":"a.b","ignore_client_no_cache":true,"authorization":"ignore"}])");
}

TEST(SquidRefresh, TellsOfReloadsAtTheEndOfALongLine) {
  std::string line = "refresh_pattern \\.deb$ 1440 20% 2880 override-expire";
  for (int i = 0; i < 8; ++i) line += " override-lastmod";
  const auto import = imported(line + " reload-into-ims");
  EXPECT_TRUE(has(told_of(import, 1), "changed: a reload is answered from the cache"));
}

TEST(SquidRefresh, NumbersTheRulesOfALine) {
  std::string acl = "acl some dstdomain";
  for (int i = 0; i < 8; ++i) acl += " h" + std::to_string(i) + ".example";
  const auto all = rules(acl + "\ncache deny some");
  for (int i = 0; i < 8; ++i) {
    const auto name = "\"squid-2-" + std::to_string(i) + "\"";
    EXPECT_TRUE(has(all, name)) << name << all;
  }
}

TEST(SquidRefresh, HasNoRuleWhereItIsForResponsesWithoutALifetime) {
  const auto import =
      imported("refresh_pattern \\.deb$ 1440 20% 2880\nrefresh_pattern . 0 20% 4320");
  EXPECT_FALSE(has(import.settings, "\"rules\""));
  EXPECT_TRUE(has(told_of(import, 1), "left: without override-expire"));
  EXPECT_TRUE(has(told_of(import, 1), "\"min_fresh\": \"1d\""));
  EXPECT_TRUE(has(told_of(import, 2), "unneeded: "));
}

// Of the lines, the first that matches counts, and so it is with rules.
TEST(SquidRefresh, KeepsTheURLsOfAnEarlierLineFromLaterRules) {
  EXPECT_EQ(rules("refresh_pattern /dists/ 0 0% 0\nrefresh_pattern . 60 0% 60 override-expire"),
            R"([{"name":"squid-1-0","host":"*","paths":["*/dists/*"],"max_fresh":"3650d"},)"
            R"({"name":"squid-2-0","host":"*","min_fresh":"1h"}])");
  for (const std::string expression : {"\\?", "cvmfs.*\\.cern\\.ch", "cgi-bin"}) {
    const auto import = imported("refresh_pattern " + expression +
                                 " 0 0% 0\nrefresh_pattern . 60 0% 60 override-expire");
    EXPECT_TRUE(has(told_of(import, 1), "changed: the expression has no equal, so")) << expression;
  }
}

TEST(SquidRefresh, TellsTheOptionsThatItLeavesOut) {
  const auto import =
      imported("refresh_pattern . 60 0% 60 override-expire ignore-no-store max-stale=3 x");
  EXPECT_TRUE(has(told_of(import, 1), "ignore-no-store: ")) << told_of(import, 1);
  EXPECT_TRUE(has(told_of(import, 1), "cache.stale_if_error"));
  EXPECT_TRUE(has(told_of(import, 1), "x: is not known"));
  EXPECT_TRUE(has(told_of(imported("refresh_pattern ."), 1), "left: is not complete"));
  EXPECT_TRUE(has(told_of(imported("refresh_pattern . a 0% 0"), 1), "left: "));
  EXPECT_TRUE(has(told_of(imported("refresh_pattern [a-z] 9 0% 9 override-expire"), 1),
                  "\"min_fresh\": \"9m\""));
}

TEST(SquidRefresh, MakesRulesOfWhatIsNotToBeStored) {
  EXPECT_EQ(
      rules("acl QUERY urlpath_regex ^/cgi-bin/ \\.php$\nno_cache deny QUERY"),
      R"([{"name":"squid-2-0","host":"*","paths":["/cgi-bin/*","*.php"],"never_store":true}])");
  EXPECT_EQ(rules("acl a dstdomain .a.example\ncache deny a\ncache allow all"),
            R"([{"name":"squid-2-0","host":"a.example","never_store":true},)"
            R"({"name":"squid-2-1","host":"*.a.example","never_store":true}])");
  EXPECT_TRUE(has(told_of(imported("acl a src 10.0.0.1\ncache deny a"), 2), "left: "));
}

TEST(SquidRefresh, GivesEveryRuleTheLifetimeOfErrors) {
  EXPECT_EQ(rules("negative_ttl 5 minutes\nrefresh_pattern /a 60 0% 60 override-expire"),
            R"([{"name":"squid-2-0","host":"*","paths":["*/a*"],"min_fresh":"1h","negative":"5m"},)"
            R"({"name":"negative_ttl","host":"*","negative":"5m"}])");
  const auto open =
      rules("negative_ttl 5 minutes\nrefresh_pattern ^http://a\\.b/ 0 0% 0 ignore-auth");
  EXPECT_TRUE(open.starts_with(R"([{"name":"squid-2-0",)")) << open;
  EXPECT_EQ(open.find("negative\""), open.rfind("negative\""))
      << "only in the rule for all: " << open;
  EXPECT_EQ(rules("negative_ttl 0 seconds"), "");
}

TEST(SquidRefresh, SpreadsManyPathsOverRules) {
  std::string expression = "\\.(";
  for (int i = 10; i < 50; ++i) expression += (i > 10 ? "|" : "") + ('a' + std::to_string(i));
  const std::string all = rules("refresh_pattern " + expression + ")$ 60 0% 60 override-expire");
  EXPECT_TRUE(has(all, "\"squid-1-1\"")) << all;
  EXPECT_FALSE(has(all, "\"squid-1-2\""));
}

}  // namespace
}  // namespace proxy::command::squid
