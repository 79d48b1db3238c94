#include "proxy/sources/neighbour.hpp"

#include <gtest/gtest.h>

#include "proxy/sources/checking.hpp"
#include "tests/proxy/thread_scene.hpp"

namespace proxy::sources {
namespace {

// Each answer of a neighbour is compared with the origin's, if that can tell anything.
TEST(IsToBeChecked, WhateverNoDigestHasVerified) {
  const std::string digest(64, 'a');
  const std::string named = "http://a.test/" + digest;
  const std::string tag = "ETag: \"sha256:" + digest + "\"\r\n";
  const struct {
    const char* claim;
    std::string url;
    Came came;
    std::string head;
    bool is_checked;
  } rows[] = {
      {"a whole body", "http://a.test/x", Came::whole, "ETag: \"v1\"\r\n", true},
      {"a part", "http://a.test/x", Came::part, "ETag: \"v1\"\r\n", true},
      {"a whole body with the digest of its URL", named, Came::whole, "ETag: \"v1\"\r\n", false},
      {"a part of it", named, Came::part, "ETag: \"v1\"\r\n", true},
      {"a part with a tag that no origin knows", named, Came::part, tag, false},
  };
  auto settings = client::quiet_settings();
  settings.digest.samples.check = 1;
  config::RuleSettings rule;
  rule.name = "named";
  rule.host = {"a.test", {}};
  rule.by_pattern =
      config::PatternRule{.pattern = "/{sha256}", .kind = config::ResponseClass::immutable};
  settings.rules.push_back(rule);
  ThreadScene scene(settings);
  for (const auto& row : rows) {
    const policy::TextRequest asked("", "GET " + row.url + " HTTP/1.1");
    asked.parsed->pin(scene.policy);
    asked.parsed->arrive(policy::Arrival::forward);
    asked.parsed->apply_site_rule();
    const auto given = scene.entry_of({.url = row.url, .lines = row.head});
    EXPECT_EQ(is_to_be_checked(scene.sources, *asked, *given, row.came), row.is_checked)
        << row.claim;
  }
}

TEST(SaysItHolds, OnlyWhatIsToldEitherWay) {
  struct Case {
    std::string text;
    std::optional<bool> held;
  };
  for (Case c : {Case{"200 OK", true}, Case{"504 Gateway Timeout", false},
                 Case{"502 Bad Gateway", false}, Case{"304 Not Modified", std::nullopt},
                 Case{"100 Continue", std::nullopt}, Case{"403 Forbidden", std::nullopt},
                 Case{"404 Not Found", std::nullopt}, Case{"206 Partial Content", std::nullopt},
                 Case{"504 No\r\nCache-Status: b; detail=\"refused/loop\"", std::nullopt},
                 Case{"504 No\r\nCache-Status: b; fwd=stale", false}}) {
    auto text = "HTTP/1.1 " + c.text + "\r\n\r\n";
    EXPECT_EQ(says_it_holds(http::parse_response_head(text).value()), c.held) << c.text;
  }
}

}  // namespace
}  // namespace proxy::sources
