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
  EXPECT_EQ(detail(scene.get("/other")), "not-stored/max-age");
}

TEST(SiteRules, ApplyToThePathsOfTheirGlobs) {
  const json rule{{"paths", {"*.deb", "*/by-hash/*"}}, {"min_fresh", "1h"}};
  Ruled scene(rule);
  scene.origin.otherwise([](const Request&) { return cacheable("hello", "max-age=0"); });
  const auto is_ruled = [&](const std::string& path) {
    scene.get(path);
    return is_hit(scene.get(path));
  };
  EXPECT_TRUE(is_ruled("/r/a.deb"));
  EXPECT_TRUE(is_ruled("/r/a.deb?x"));
  EXPECT_TRUE(is_ruled("/r/by-hash/0"));
  EXPECT_FALSE(is_ruled("/r/a.dsc"));
  EXPECT_FALSE(is_ruled("/other/a.deb")) << "the prefix has to match, too";
}

TEST(SiteRules, SayHowLongErrorsAreKept) {
  Ruled scene(json{{"negative", "1h"}});
  for (const char* path : {"/r", "/other"}) {
    scene.origin.on(path, Reply(404).body("no"));
    scene.get(path);
  }
  EXPECT_TRUE(is_hit(scene.get("/r")));
  EXPECT_EQ(scene.get("/r").status, 404);
  EXPECT_FALSE(is_hit(scene.get("/other")));
  int number = 0;
  for (const char* control : {"no-store", "private", "max-age=0"}) {
    const auto path = "/r/" + std::to_string(++number);
    scene.origin.on(path, Reply(404, {{"Cache-Control", control}}));
    scene.get(path);
    EXPECT_FALSE(is_hit(scene.get(path))) << control;
  }
  scene.origin.on("/r/down", Reply(503));
  scene.get("/r/down");
  EXPECT_FALSE(is_hit(scene.get("/r/down")));
}

TEST(SiteRules, LetNoClientHaveWhatIsImmutableValidated) {
  Ruled scene(json{{"immutable", true}});
  scene.origin.otherwise([](const Request&) { return cacheable("hello").with("Age", "5"); });
  for (const char* path : {"/r", "/other"}) scene.get(path);
  for (const char* control : {"no-cache", "max-age=0", "max-age=1", "min-fresh=3600"}) {
    const Fields field{{"Cache-Control", control}};
    EXPECT_TRUE(is_hit(scene.get("/r", field))) << control;
    EXPECT_FALSE(is_hit(scene.get("/other", field))) << control;
  }
  scene.origin.on("/r/stale", cacheable("hello", "max-age=0").with("ETag", "\"1\""));
  scene.get("/r/stale");
  scene.get("/r/stale");
  EXPECT_EQ(scene.origin.count("/r/stale"), 2U) << "what is stale is validated as ever";
}

TEST(SiteRules, ShowToAllWhatCredentialsOpenedIfTheOwnerSaysSo) {
  Ruled scene(json{{"authorization", "ignore"}});
  scene.origin.otherwise([](const Request& request) {
    return request.has("Authorization")
               ? cacheable("hello")
               : Reply(401, {{"Cache-Control", "max-age=60"}}).body("who?");
  });
  const Fields mine{{"Authorization", "Basic eDp5"}};
  EXPECT_EQ(scene.get("/r").status, 401);
  EXPECT_EQ(scene.get("/r", mine).body, "hello") << "no refusal is stored";
  EXPECT_TRUE(is_hit(scene.get("/r")));
  EXPECT_TRUE(is_hit(scene.get("/r", {{"Authorization", "Basic eno="}})));
  EXPECT_EQ(scene.origin.requests("/r").at(1).field("Authorization"), "Basic eDp5");
  scene.get("/other", mine);
  EXPECT_FALSE(is_hit(scene.get("/other", mine)));
  EXPECT_EQ(scene.get("/other").status, 401);

  scene.proxy.reload(json::object());
  EXPECT_EQ(scene.get("/r").status, 401) << "what only the rule had opened is closed with it";
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
  EXPECT_TRUE(contains(again.field("Cache-Status"),
                       "fwd=bypass; fwd-status=200; detail=\"not-stored/rule rule/mine\""))
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
