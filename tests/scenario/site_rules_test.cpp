// Rules in the settings for single sites, and the rule that each response names in Cache-Status.
#include <gtest/gtest.h>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

json with_rule(json rule, const std::string& path = "/r") {
  rule["name"] = "mine";
  rule["host"] = "127.0.0.1";
  rule["path"] = path;
  return {{"rules", {rule}}};
}

std::string detail(const Response& response) {
  const std::string status = nearest_cache_status(response);
  const auto at = status.find("detail=\"");
  if (at == status.npos) return "";
  return status.substr(at + 8, status.find('"', at + 8) - at - 8);
}

struct Ruled : Scene {
  explicit Ruled(const json& rule) : Scene(with_rule(rule)) {
    origin.otherwise([](const Request&) { return cacheable("hello"); });
  }
  Response get(const std::string& path, const Fields& fields = {}) {
    return client.get(origin.url(path), fields);
  }
};

TEST(SiteRules, KeepFreshForAtLeast) {
  Ruled scene(json{{"min_fresh", "1h"}});
  const auto told = [&](const std::string& path, const std::string& control) {
    scene.origin.on(path, cacheable("hello", control));
    scene.get(path);
    return scene.get(path);
  };
  const Response lifted = told("/r", "max-age=0");
  EXPECT_TRUE(is_hit(lifted)) << lifted.field("Cache-Status");
  EXPECT_EQ(lifted.field("Cache-Control"), "max-age=0") << "for the client it is as it was";
  EXPECT_EQ(detail(lifted), "rule/mine");
  int number = 0;
  for (const char* control : {"no-store", "private", "no-cache", "max-age=0, must-revalidate",
                              "max-age=0, proxy-revalidate", "s-maxage=0"}) {
    EXPECT_FALSE(is_hit(told("/r/" + std::to_string(++number), control))) << control;
  }
  EXPECT_FALSE(is_hit(told("/other", "max-age=0")));
  EXPECT_EQ(detail(scene.get("/other")), "");
}

TEST(SiteRules, WhatTheyKeepFreshIsNotClaimedToNeighbours) {
  Ruled scene(json{{"min_fresh", "1h"}});
  scene.origin.on("/r", cacheable("hello", "max-age=0"));
  scene.get("/r");
  ASSERT_TRUE(is_hit(scene.get("/r")));
  scene.get("/r/claimed");
  ASSERT_TRUE(await([&] { return scene.proxy.digest().at("entries") >= 1; }));
  EXPECT_EQ(scene.proxy.digest().at("entries"), 1);
}

TEST(SiteRules, KeepFreshForAtMost) {
  Ruled scene(json{{"max_fresh", "0s"}});
  scene.origin.on("/r", cacheable("hello").with("ETag", "\"1\""));
  scene.get("/r");
  EXPECT_EQ(scene.get("/r").field("Cache-Status").find("; hit"), std::string::npos);
  EXPECT_TRUE(scene.origin.requests("/r").at(1).has("If-None-Match"));
}

TEST(SiteRules, IgnoreAReload) {
  Ruled scene(json{{"ignore_client_no_cache", true}});
  scene.origin.otherwise([](const Request&) { return cacheable("hello").with("Age", "5"); });
  for (const char* path : {"/r", "/other"}) scene.get(path);
  for (const Field& field : {Field{"Cache-Control", "no-cache"}, Field{"Pragma", "no-cache"},
                             Field{"Cache-Control", "max-age=0"}}) {
    EXPECT_TRUE(is_hit(scene.get("/r", {field}))) << field.first << field.second;
    EXPECT_FALSE(is_hit(scene.get("/other", {field}))) << field.first << field.second;
  }
  scene.get("/r/new", {{"Cache-Control", "no-cache"}});
  EXPECT_EQ(scene.origin.requests("/r/new").at(0).field("Cache-Control"), "no-cache")
      << "the origin sees what the client said";
}

TEST(SiteRules, DropParametersFromTheKeyButNotFromWhatIsAsked) {
  Ruled scene(json{{"drop_query", {"utm_*"}}});
  scene.get("/r?utm_a=1&b=2");
  EXPECT_EQ(scene.origin.count("/r?utm_a=1&b=2"), 1U);
  const Response same = scene.get("/r?b=2&utm_c=3");
  EXPECT_TRUE(is_hit(same));
  EXPECT_EQ(detail(same), "rule/mine");
  EXPECT_FALSE(is_hit(scene.get("/r?b=3")));
  scene.client.request("POST", scene.origin.url("/r?b=2&utm_d=4"), {}, "x");
  EXPECT_FALSE(is_hit(scene.get("/r?b=2")));
  EXPECT_EQ(scene.client.request("PURGE", scene.origin.url("/r?utm_x&b=2"), kOnPurpose).status,
            200);
}

TEST(SiteRules, AskNoNeighbourForAUrlThatTheyReduce) {
  PeerScene scene({"/r", "/r?utm_a"}, with_rule({{"drop_query", {"utm_*"}}}));
  for (const char* path : {"/r", "/r?utm_a"}) scene.peer.on(path, cacheable("from the peer"));
  EXPECT_EQ(scene.client->get(scene.origin.url("/r?utm_a")).body, "from the origin");
  scene.client->request("PURGE", scene.origin.url("/r"), kOnPurpose);
  EXPECT_EQ(scene.peer.count("/r") + scene.peer.count("/r?utm_a"), 0U);
  EXPECT_EQ(scene.proxy->digest().at("entries"), 0);
}

TEST(SiteRules, StoreNothing) {
  Ruled scene(json{{"never_store", true}});
  scene.get("/r");
  const Response again = scene.get("/r");
  EXPECT_EQ(scene.origin.count("/r"), 2U);
  EXPECT_TRUE(
      contains(again.field("Cache-Status"), "fwd=bypass; fwd-status=200; detail=\"rule/mine\""))
      << again.field("Cache-Status");
  scene.origin.on(
      "/r", [&](const Request&) { return cacheable("posted").with("Content-Location", "/r"); });
  scene.client.request("POST", scene.origin.url("/r"), {}, "x");
  EXPECT_FALSE(is_hit(scene.get("/r")));
}

TEST(SiteRules, KeepASiteOffline) {
  Ruled scene(json{{"offline", true}});
  const Response refused = scene.get("/r");
  EXPECT_EQ(refused.status, 504);
  EXPECT_EQ(detail(refused), "offline rule/mine");
  EXPECT_EQ(scene.get("/other").status, 200);
  EXPECT_EQ(scene.origin.count("/r"), 0U);
}

TEST(SiteRules, StandBesideOtherWords) {
  PeerScene scene({"/r"}, with_rule({{"max_fresh", "1h"}}));
  scene.peer.on("/r", cacheable("from the peer"));
  EXPECT_EQ(detail(scene.client->get(scene.origin.url("/r"))), "peer/b rule/mine");
}

}  // namespace
}  // namespace scenario
