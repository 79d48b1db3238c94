// access.rules: who may ask for what, and when.
#include <gtest/gtest.h>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

json with_rules(const json& rules, json settings = json::object()) {
  settings["access"]["rules"] = rules;
  settings["access"]["clients"] = {"loopback"};
  return settings;
}

struct SceneOfRules : Scene {
  explicit SceneOfRules(const json& rules, const json& settings = json::object())
      : Scene(with_rules(rules, settings)) {
    origin.otherwise([](const Request&) { return cacheable("hello"); });
  }
};

TEST(AccessRules, DenyWithTheNameOfTheRuleAndNoMore) {
  SceneOfRules scene(
      json::array({{{"name", "no-games"}, {"action", "deny"}, {"to", {"localhost"}}}}));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).status, 200);
  const auto url = "http://localhost:" + std::to_string(scene.origin.port()) + "/a";
  const Response denied = scene.client.get(url);
  EXPECT_EQ(denied.status, 403);
  EXPECT_TRUE(contains(nearest_cache_status(denied), "detail=\"denied/no-games\""))
      << denied.field("Cache-Status");
  auto body = denied.body;
  const auto shown = body.find(url);  // what the client has asked for
  if (shown != body.npos) body.erase(shown, url.size());
  EXPECT_FALSE(contains(body, "localhost")) << denied.body;
  EXPECT_EQ(scene.proxy.logged(url).result, "TCP_DENIED");
  EXPECT_EQ(scene.origin.count("/a"), 1U);
}

TEST(AccessRules, DenyAMethodHoweverItIsWritten) {
  const json deny{{"name", "no-post"}, {"action", "deny"}, {"methods", {"POST"}}};
  const json allow{{"action", "allow"}, {"methods", {"GET", "PUT"}}};
  SceneOfRules scene(json::array({deny, allow, {{"action", "deny"}}}));
  for (const char* method : {"POST", "post", "Post", "put"}) {
    Client client(scene.proxy.port());
    const Response denied = client.request(method, scene.origin.url("/a"), {}, "x");
    EXPECT_EQ(denied.status, 403) << method;
  }
  EXPECT_EQ(scene.client.request("PUT", scene.origin.url("/a"), {}, "x").status, 200);
  EXPECT_EQ(scene.origin.count("/a"), 1U);
}

TEST(AccessRules, TellTheNameOfTheRuleInTheLogAsJson) {
  SceneOfRules scene(json::array({{{"action", "deny"}, {"methods", {"POST"}}}}),
                     json{{"log", {{"format", "json"}}}});
  EXPECT_EQ(scene.client.request("POST", scene.origin.url("/a"), {}, "x").status, 403);
  ASSERT_TRUE(await([&] {
    return contains(read_file(scene.proxy.access_log_path()), "\"denied_by\":\"0\"");
  })) << read_file(scene.proxy.access_log_path());
}

// The short form decides where no rule does, and what follows it stays.
TEST(AccessRules, LeaveTheRestToClientsAndLiftNothingElse) {
  const auto all = json::array({{{"action", "allow"}}});
  SceneOfRules scene(all,
                     json{{"access", {{"deny_to", {"192.0.2.0/24"}}, {"connect_ports", {443}}}}});
  EXPECT_EQ(scene.client.get("http://192.0.2.1/a").status, 403);
  scene.client.send("CONNECT a.test:25 HTTP/1.1\r\nHost: a.test:25\r\n\r\n");
  EXPECT_EQ(scene.client.read("CONNECT").status, 403);

  const auto other = json::array({{{"action", "allow"}, {"clients", {"192.0.2.0/24"}}}});
  SceneOfRules named(other);
  EXPECT_EQ(named.client.get(named.origin.url("/a")).status, 200);
  named.proxy.reload(json{{"access", {{"rules", other}, {"clients", nullptr}}}});
  EXPECT_EQ(named.client.get(named.origin.url("/a")).status, 403);
}

TEST(AccessRules, KeepToTheContractOfSiblings) {
  SceneOfRules scene(json::array({{{"action", "deny"}, {"to", {"127.0.0.1"}}}}));
  const Response refused =
      scene.client.get(scene.origin.url("/a"), {{"Cache-Control", "only-if-cached"}});
  EXPECT_EQ(refused.status, 504);
  EXPECT_TRUE(contains(nearest_cache_status(refused), "detail=\"refused/denied/0\""))
      << refused.field("Cache-Status");
}

TEST(AccessRules, FollowAReload) {
  SceneOfRules scene(json::array());
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).status, 200);
  scene.proxy.reload(with_rules(json::array({{{"action", "deny"}, {"methods", {"GET"}}}})));
  EXPECT_EQ(scene.client.get(scene.origin.url("/a")).status, 403);
  EXPECT_EQ(scene.client.request("HEAD", scene.origin.url("/a")).status, 200);
}

TEST(AccessRules, LeaveThePagesOfTheProxyAlone) {
  const SceneOfRules scene(json::array({{{"action", "deny"}}}));
  EXPECT_EQ(scene.proxy.page("/health").status, 200);
}

}  // namespace
}  // namespace scenario
