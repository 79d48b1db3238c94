// What does not work is seen in /health, /metrics and the log.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

json health(const ProxyProcess& proxy) {
  return json::parse(proxy.page("/health").body);
}
// The reasons of this kind, by the name of what does not work.
std::vector<std::string> failing(const ProxyProcess& proxy, std::string_view what) {
  std::vector<std::string> names;
  const json page = health(proxy);
  for (const json& reason : page.at("reasons")) {
    if (reason.at("what").get<std::string>() == what) names.push_back(reason.value("which", ""));
  }
  return names;
}
bool said(ProxyProcess& proxy, std::string_view text) {
  return await([&] { return contains(proxy.process().errors(), text); });
}

TEST(Health, IsOkWhereAllWorks) {
  const ProxyProcess proxy;
  EXPECT_EQ(health(proxy), json::parse(R"({"status": "ok", "reasons": []})"));
  EXPECT_EQ(proxy.page("/health?strict=1").status, 200);
  EXPECT_EQ(proxy.page("/health?strct=1").status, 400);
}

// What a reverse mapping to the scene's origin asks.
json mapped_to(const ScriptedOrigin& origin) {
  const auto to = "http://127.0.0.1:" + std::to_string(origin.port());
  return {{"reverse", {{{"host", "www.example.com"}, {"to", to}}}},
          {"access", {{"deny_to", json::array()}}},
          {"timeouts", {{"unreachable", "1ms"}}}};
}
int status_at_mapped(const ProxyProcess& proxy) {
  Client client(proxy.port());
  client.send(origin_form_text("www.example.com", "GET", "/", {}));
  return client.read("GET").status;
}

TEST(Health, NamesAMappedOriginThatFailsUntilItAnswers) {
  ScriptedOrigin origin;
  bool works = true;
  origin.otherwise([&](const Request&) { return works ? Reply() : Reply::hang_up(); });
  ProxyProcess proxy(mapped_to(origin));
  EXPECT_EQ(status_at_mapped(proxy), 200);
  works = false;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(status_at_mapped(proxy), 502);
  const auto name = "http://127.0.0.1:" + std::to_string(origin.port());
  EXPECT_EQ(failing(proxy, "origin"), std::vector<std::string>{name});
  EXPECT_EQ(health(proxy).at("status"), "degraded");
  EXPECT_EQ(proxy.page("/health").status, 200) << "it answers nevertheless";
  EXPECT_EQ(proxy.page("/health?strict=1").status, 503);
  EXPECT_EQ(proxy.metric("hearsay_troubles{what=\"origin\"}"), 1);
  works = true;
  EXPECT_EQ(status_at_mapped(proxy), 200);
  EXPECT_EQ(health(proxy).at("status"), "ok");
  EXPECT_TRUE(said(proxy, "answers again, after"));
}

TEST(Health, AnOriginOfClientsThatFailsAloneIsANote) {
  auto origin = std::make_unique<ScriptedOrigin>();
  const auto url = origin->url("/");
  const std::string name = url.substr(0, url.size() - 1);
  origin->otherwise([](const Request&) { return Reply().body("hello"); });
  Scene scene(json{{"timeouts", {{"unreachable", "1ms"}}}});
  EXPECT_EQ(scene.client.get(url).status, 200);
  origin.reset();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(scene.client.get(url).status, 502);
  EXPECT_EQ(health(scene.proxy).at("status"), "ok");
  const auto page = json::parse(scene.proxy.page("/hearsay/origins").body);
  EXPECT_EQ(page.at("notes").at(0).at("origin"), name);
  EXPECT_EQ(page.at("origins").at(0).at("failures"), (json{{"unreachable", 3}}));
  EXPECT_EQ(page.at("origins").at(0).at("requests"), 4);
  EXPECT_TRUE(said(scene.proxy, "origin " + name + ": the server could not be reached"));
  EXPECT_EQ(scene.proxy.metric("hearsay_origin_failures_total{why=\"unreachable\"}"), 3);
  EXPECT_TRUE(await([&] {
    return scene.proxy.metric("hearsay_requests_total{result=\"failed\",why=\"unreachable\"}") == 3;
  }));
}

TEST(Health, AFifthOfTheRequestsThatFailsIsTheLine) {
  Scene scene;
  scene.origin.otherwise([](const Request&) { return Reply::hang_up(); });
  ScriptedOrigin other;
  other.otherwise([](const Request&) { return Reply::hang_up(); });
  for (int i = 0; i < 60; ++i) {
    scene.client.get(scene.origin.url("/"));
    scene.client.get(other.url("/"));
  }
  EXPECT_TRUE(await([&] { return failing(scene.proxy, "line").size() == 1; }));
  EXPECT_EQ(failing(scene.proxy, "origin"), std::vector<std::string>{});
}

TEST(Health, NamesANeighbourThatIsDown) {
  ProxyProcess a;
  const ProxyProcess b(with_peer("a", a.port()));
  ASSERT_TRUE(await([&] { return b.digest_peer("a").at("state") == "usable"; }));
  EXPECT_EQ(health(b).at("status"), "ok");
  EXPECT_EQ(b.metric("hearsay_peer_up{peer=\"a\"}"), 1);
  a.process().signal(SIGKILL);
  a.process().wait();
  EXPECT_TRUE(await([&] { return failing(b, "peer") == std::vector<std::string>{"a"}; },
                    std::chrono::seconds(5)));
  EXPECT_EQ(b.metric("hearsay_peer_up{peer=\"a\"}"), 0);
}

TEST(Health, NamesSettingsThatAskForMoreMemoryThanThereIs) {
  ProxyProcess proxy(json{{"limits", {{"heads", "1TiB"}}}});
  EXPECT_EQ(health(proxy).at("reasons").at(0).at("what"), "memory");
  EXPECT_TRUE(said(proxy, "set cache.memory to less"));
  EXPECT_EQ(proxy.metric("hearsay_troubles{what=\"memory\"}"), 1);
}

// Those of this kind, whole.
std::vector<json> reasons(const ProxyProcess& proxy, std::string_view what) {
  std::vector<json> all;
  const json page = health(proxy);
  for (const json& reason : page.at("reasons")) {
    if (reason.at("what").get<std::string>() == what) all.push_back(reason);
  }
  return all;
}

TEST(Health, NamesSettingsThatWereNotReloadedUntilTheyAre) {
  ProxyProcess proxy;
  proxy.reload_text("{\"lissten\": []}");
  const auto failed = reasons(proxy, "settings");
  ASSERT_EQ(failed.size(), 1U);
  const auto text = failed[0].at("text").get<std::string>();
  EXPECT_TRUE(contains(text, "were not reloaded")) << text;
  EXPECT_TRUE(contains(text, "lissten")) << text;
  for (const char* const time : {"since", "last_seen"}) {
    EXPECT_EQ(failed[0].at(time).get<std::string>().size(),
              std::string("2026-11-27T10:17:07Z").size());
  }
  EXPECT_EQ(proxy.metric("hearsay_troubles{what=\"settings\"}"), 1);
  proxy.reload(json::object());
  EXPECT_EQ(health(proxy).at("status"), "ok");
}

TEST(Health, NamesALogThatCannotBeOpenedAnewUntilItCan) {
  ProxyProcess proxy;
  const auto path = proxy.access_log_path();
  const auto away = path.parent_path() / "access.log.1";
  std::filesystem::rename(path, away);
  std::filesystem::create_directory(path);
  proxy.process().signal(SIGUSR1);
  ASSERT_TRUE(await([&] { return !reasons(proxy, "log").empty(); }));
  EXPECT_TRUE(contains(reasons(proxy, "log")[0].at("text").get<std::string>(), path.string()));
  std::filesystem::remove(path);
  proxy.process().signal(SIGUSR1);
  EXPECT_TRUE(await([&] { return reasons(proxy, "log").empty(); }));
  EXPECT_TRUE(said(proxy, "the access log is in order again"));
}

TEST(Health, TellsSinceWhenAndThatItStillIsSo) {
  ProxyProcess proxy(json{{"cache", {{"offline", true}}}});
  const auto told = [&](const char* time) {
    return reasons(proxy, "offline").at(0).at(time).get<std::string>();
  };
  const auto since = told("since");
  EXPECT_TRUE(await([&] { return told("last_seen") > told("since"); }));
  EXPECT_LE(since.substr(0, 16), told("since").substr(0, 16));
}

TEST(Offline, NeighboursAreAskedAndTheOriginIsNot) {
  PeerScene scene({"/a", "/gone"}, json{{"cache", {{"offline", true}}}});
  scene.peer.on("/a", cacheable("from b"));
  scene.peer.on("/gone", Reply(504));
  const auto given = scene.get("/a");
  EXPECT_EQ(given.body, "from b") << nearest_cache_status(given);
  for (const char* const path : {"/gone", "/unclaimed"}) {
    const auto refused = scene.get(path);
    EXPECT_EQ(refused.status, 504) << path;
    EXPECT_TRUE(contains(nearest_cache_status(refused), "offline")) << path;
    EXPECT_TRUE(contains(refused.body, "cache.offline")) << refused.body;
  }
  EXPECT_EQ(scene.origin.connections(), 0U);
  EXPECT_EQ(failing(*scene.proxy, "offline").size(), 1U);
}

TEST(Health, TellsTheCauseOfAFailureInTheLogAsJson) {
  Scene scene(json{{"log", {{"format", "json"}}}});
  scene.origin.on("/a", Reply::hang_up());
  scene.client.get(scene.origin.url("/a"));
  std::string text;
  ASSERT_TRUE(await([&] {
    text = read_file(scene.proxy.access_log_path());
    return contains(text, "/a\"");
  }));
  EXPECT_EQ(json::parse(text).at("failure"), "cut");
}

}  // namespace
}  // namespace scenario
