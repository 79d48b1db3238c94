#include <gtest/gtest.h>

#include "config/load.hpp"

namespace config {
namespace {

using namespace std::chrono_literals;

std::string rules(const std::string& list) {
  return R"({"rules":[)" + list + "]}";
}

TEST(RuleSettings, NameASiteAndWhatHoldsForIt) {
  const auto settings =
      load(rules(R"({"name":"pool","host":"*.Example.com:8080","path":"/pool/","min_fresh":"1h",)"
                 R"("max_fresh":"24h","ignore_client_no_cache":true,"drop_query":["utm_*","sid"],)"
                 R"("never_store":true,"offline":true,"store_cookies":true,)"
                 R"("paths":["*.deb","/dists/*/by-hash/?*"],"immutable":true,)"
                 R"("authorization":"ignore"},{"name":"errors","host":"a","negative":"10s"})"));
  ASSERT_TRUE(settings.has_value());
  const RuleSettings expected{.name = "pool",
                              .host = {"*.example.com", 8080},
                              .path = "/pool/",
                              .paths = {"*.deb", "/dists/*/by-hash/?*"},
                              .min_fresh = 1h,
                              .max_fresh = 24h,
                              .immutable = true,
                              .ignore_authorization = true,
                              .ignore_client_no_cache = true,
                              .drop_query = {"utm_*", "sid"},
                              .never_store = true,
                              .offline = true,
                              .store_cookies = true};
  RuleSettings errors;
  errors.name = "errors";
  errors.host = {"a", std::nullopt};
  errors.negative = 10s;
  EXPECT_EQ(settings->rules, (std::vector{expected, errors}));
}

TEST(RuleSettings, LeaveEveryEffectOffThatIsNotAskedFor) {
  const auto settings = load(rules(R"({"name":"a","host":"*","max_fresh":"0s"})"));
  ASSERT_TRUE(settings.has_value());
  RuleSettings expected;
  expected.name = "a";
  expected.host = {"*", std::nullopt};
  expected.max_fresh = 0ms;
  EXPECT_EQ(settings->rules, std::vector{expected});
}

struct RuleFault {
  std::string list, path, words;
};

TEST(RuleSettings, AreRefusedWithTheirPlaceAndTheReason) {
  const std::string head = R"("name":"a","host":"b")";
  const std::string effect = R"(,"offline":true)";
  for (
      const RuleFault& c : {
          RuleFault{"7", "rules[0]", "found the number 7"},
          RuleFault{R"({"host":"a","offline":true})", "rules[0]", "expected \"name\""},
          RuleFault{R"({"name":"a","offline":true})", "rules[0]", "expected \"host\""},
          RuleFault{R"({"name":"a b","host":"b"})", "rules[0].name", "found \"a b\""},
          RuleFault{R"({"name":"a","host":"b/c"})", "rules[0].host", "\"*.example.com\""},
          RuleFault{"{" + head + R"(,"path":"x","offline":true})", "rules[0].path", "\"/debian"},
          RuleFault{"{" + head + R"(,"paths":"*.deb","offline":true})", "rules[0].paths", "a list"},
          RuleFault{"{" + head + R"(,"paths":["*.deb","a*"],"offline":true})", "rules[0].paths[1]",
                    "\"*.deb\""},
          RuleFault{"{" + head + R"(,"paths":["/)" + std::string(63, 'a') + R"("],"offline":true})",
                    "rules[0].paths[0]", "a glob"},
          RuleFault{
              "{" + head +
                  R"(,"paths":["*\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4"],"offline":true})",
              "rules[0].paths[0]", "a glob"},
          RuleFault{"{" + head + R"(,"negative":"0s"})", "rules[0].negative", "from \"1s\""},
          RuleFault{"{" + head + R"(,"immutable":"yes"})", "rules[0].immutable", "true or false"},
          RuleFault{"{" + head + R"(,"authorization":"heed"})", "rules[0].authorization",
                    "\"ignore\""},
          RuleFault{"{" + head + R"(,"authorization":true})", "rules[0].authorization",
                    "\"ignore\""},
          RuleFault{"{" + head + R"(,"negative":"1s","authorization":"ignore"})",
                    "rules[0].negative", "no effect beside authorization"},
          RuleFault{"{" + head + R"(,"min_fresh":"1ms"})", "rules[0].min_fresh", "from \"1s\""},
          RuleFault{"{" + head + R"(,"min_fresh":"2s","max_fresh":"1s"})", "rules[0].min_fresh",
                    "longer than max_fresh"},
          RuleFault{"{" + head + R"(,"drop_query":"a"})", "rules[0].drop_query", "a list"},
          RuleFault{"{" + head + R"(,"drop_query":["a","b=c"]})", "rules[0].drop_query[1]",
                    "\"utm_*\""},
          RuleFault{"{" + head + R"(,"drop_query":["*a"]})", "rules[0].drop_query[0]", "\"utm_*\""},
          RuleFault{"{" + head + R"(,"never_store":1})", "rules[0].never_store", "true or false"},
          RuleFault{"{" + head + "}", "rules[0]", "does nothing"},
          RuleFault{"{" + head + R"(,"offline":false})", "rules[0]", "does nothing"},
          RuleFault{"{" + head + R"(,"min_frsh":"1h"})", "rules[0].min_frsh",
                    "mean \"min_fresh\"?"},
          RuleFault{"{" + head + effect + "},{" + head + effect + "}", "rules[1].name",
                    "name of rules[0]"},
      }) {
    const auto settings = load(rules(c.list));
    ASSERT_TRUE(settings.has_error()) << c.list;
    ASSERT_EQ(settings.error().size(), 1u) << c.list << settings.error()[1].what;
    EXPECT_TRUE(settings.error()[0].where.ends_with(", " + c.path)) << settings.error()[0].where;
    EXPECT_NE(settings.error()[0].what.find(c.words), std::string::npos)
        << settings.error()[0].what;
  }
}

TEST(RuleSettings, AreBounded) {
  const auto several = [](std::size_t count) {
    std::string list;
    for (std::size_t i = 0; i < count; ++i) {
      list += (i > 0 ? "," : "") + (R"({"name":"r)" + std::to_string(i)) +
              R"(","host":"a","offline":true})";
    }
    return load(rules(list));
  };
  EXPECT_TRUE(several(256).has_value());
  EXPECT_TRUE(several(257).has_error());
  std::string names;
  for (int i = 0; i < 65; ++i) names += (i > 0 ? "," : "") + ('"' + std::to_string(i)) + '"';
  EXPECT_TRUE(load(rules(R"({"name":"a","host":"a","drop_query":[)" + names + "]}")).has_error());
}

}  // namespace
}  // namespace config
