// /admin/explain and `hearsay explain`: what the proxy would do, compared with what it does.
#include <gtest/gtest.h>

#include "tests/scenario/control/steered.hpp"
#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

json explained(const ProxyProcess& proxy, const std::string& url, const std::string& more = {}) {
  const auto page = proxy.page("/admin/explain?url=" + url + more);
  EXPECT_EQ(page.status, 200) << page.body;
  return json::parse(page.body);
}
std::string verdict(const ProxyProcess& proxy, const std::string& url) {
  return explained(proxy, url).at("verdict");
}
bool begins(const std::string& text, const std::string& with) {
  return text.starts_with(with);
}

TEST(Explain, SaysMissThenHitThenStale) {
  Scene scene;
  scene.origin.on("/a", Reply(200, {{"Cache-Control", "max-age=60, stale-if-error=9"}}).body("a"));
  scene.origin.on(
      "/old",
      Reply(200, {{"Cache-Control", "max-age=60"}, {"Age", "100"}, {"ETag", "\"a\""}}).body("a"));
  const auto url = scene.origin.url("/a");
  EXPECT_EQ(verdict(scene.proxy, url),
            "is not stored; would ask the origin " + url.substr(0, url.size() - 2));
  scene.client.get(url);
  const json hit = explained(scene.proxy, url);
  EXPECT_TRUE(begins(hit.at("verdict"), "would be answered from memory; fresh for another "));
  const json& stored = hit.at("stored").at(0);
  EXPECT_EQ(stored.at("lifetime_seconds"), 60);
  EXPECT_EQ(stored.at("lifetime_from"), "max-age");
  EXPECT_EQ(stored.at("stale_if_error_seconds"), 9);
  EXPECT_EQ(stored.at("bytes"), 1);
  scene.client.get(scene.origin.url("/old"));
  EXPECT_TRUE(begins(verdict(scene.proxy, scene.origin.url("/old")), "is stored, but stale for "));
}

TEST(Explain, ChangesNothing) {
  Scene scene;
  scene.origin.on("/a", cacheable("a"));
  const auto url = scene.origin.url("/a");
  for (int i = 0; i < 5; ++i) explained(scene.proxy, url);
  EXPECT_EQ(scene.origin.count("/a"), 0U);
  scene.client.get(url);
  for (int i = 0; i < 5; ++i) explained(scene.proxy, url);
  EXPECT_EQ(explained(scene.proxy, url).at("stored").at(0).at("hits"), 0);
  EXPECT_EQ(scene.origin.count("/a"), 1U);
}

TEST(Explain, SaysWhoMayNotAndWhy) {
  const TemporaryDirectory directory;
  write_file(directory / "block", "ads.test\n");
  const ProxyProcess proxy(json{{"access",
                                 {{"clients", {"10.0.0.0/8"}},
                                  {"admin", {"loopback"}},
                                  {"deny_to", {"192.0.2.0/24"}},
                                  {"block", {(directory / "block").string()}}}}});
  EXPECT_TRUE(contains(verdict(proxy, "http://a.test/"), "refused with 403"));
  const auto as_client = [&](const std::string& url) -> std::string {
    return explained(proxy, url, "&client=10.0.0.5").at("verdict");
  };
  EXPECT_TRUE(begins(as_client("http://a.test/"), "is not stored"));
  EXPECT_TRUE(contains(as_client("http://192.0.2.1/"), "access.deny_to"));
  EXPECT_TRUE(contains(as_client("http://ads.test/"), "access.block"));
  EXPECT_EQ(proxy.metric("hearsay_blocked_total"), 0) << "an explanation is no request";
}

TEST(Explain, NamesTheRuleAndTheLifetimeItGives) {
  Scene scene(json{
      {"rules",
       {{{"name", "long"}, {"host", "127.0.0.1"}, {"min_fresh", "2h"}, {"drop_query", {"s"}}}}}});
  scene.origin.otherwise([](const Request&) { return cacheable("a"); });
  scene.client.get(scene.origin.url("/a?s=1"));
  const json page = explained(scene.proxy, scene.origin.url("/a?s=2"));
  EXPECT_EQ(page.at("rule"), "rule/long");
  EXPECT_EQ(page.at("stored_as"), scene.origin.url("/a"));
  EXPECT_EQ(page.at("stored").at(0).at("lifetime_from"), "rule");
  EXPECT_EQ(page.at("stored").at(0).at("lifetime_seconds"), 7200);
}

TEST(Explain, FindsWhatOnlyTheDiskHolds) {
  const TemporaryDirectory directory;
  const json disk{{"path", (directory / "cache").string()}, {"size", "64MiB"}};
  ScriptedOrigin origin;
  origin.on("/a", cacheable("hello"));
  origin.on("/v", [](const Request& request) {
    return cacheable(request.field("Accept-Language")).with("Vary", "Accept-Language");
  });
  {
    ProxyProcess proxy(json{{"cache", {{"disk", disk}}}});
    Client client(proxy.port());
    client.get(origin.url("/a"));
    client.get(origin.url("/v"));
    proxy.terminate();
  }
  const ProxyProcess proxy(json{{"cache", {{"disk", disk}}}});
  for (int i = 0; i < 2; ++i) {
    const json page = explained(proxy, origin.url("/a"));
    EXPECT_TRUE(begins(page.at("verdict"), "would be answered from disk; fresh for another "));
    EXPECT_EQ(page.at("stored").at(0).at("bytes"), 5);
  }
  EXPECT_TRUE(begins(verdict(proxy, origin.url("/v")), "would be answered from disk; "));
}

TEST(Explain, SaysWhichNeighboursWouldBeAsked) {
  PeerScene scene({"/a"});
  const json claimed = explained(*scene.proxy, scene.origin.url("/a"));
  EXPECT_TRUE(begins(claimed.at("verdict"),
                     "is not stored; would ask b, whose digest claims it, then the origin "))
      << claimed;
  EXPECT_EQ(claimed.at("peers").at(0).at("asked"), "yes");
  EXPECT_EQ(scene.books().at("claims"), 0) << "an explanation is no request";
  const json unclaimed = explained(*scene.proxy, scene.origin.url("/b"));
  EXPECT_EQ(unclaimed.at("peers").at(0).at("claims"), false);
  EXPECT_TRUE(begins(unclaimed.at("verdict"), "is not stored; would ask the origin "));
  const json stored = [&] {
    scene.get("/c");
    return explained(*scene.proxy, scene.origin.url("/c"));
  }();
  EXPECT_EQ(stored.at("peers").at(0).at("why"), "the cache answers");
}

TEST(Explain, SaysWhyANeighbourThatClaimsItIsNotAsked) {
  PeerScene barred({"/a"}, json::object());
  barred.peer.on("/a", Reply(504, {{"Cache-Status", "b; fwd=uri-miss"}}).body("no"));
  barred.get("/a");
  barred.proxy->page("/admin/purge", kOnPurpose, "POST",
                     json{{"url", barred.origin.url("/a")}}.dump());
  const json purged = explained(*barred.proxy, barred.origin.url("/a"));
  EXPECT_TRUE(contains(purged.at("no_neighbours").get<std::string>(), "purged")) << purged;
  const auto host = [](const std::string& url) { return "http://b.test" + url; };
  EXPECT_EQ(explained(*barred.proxy, host("/a")).at("peers").at(0).at("claims"), false);
}

TEST(Explain, SaysWhichHostsANeighbourThatClaimsItIsNotAskedFor) {
  const ScriptedOrigin origin;
  ScriptedOrigin neighbour;
  neighbour.on(kDigestPath, digest_reply(digest_claiming({origin.url("/a")})));
  neighbour.sign_as("b");
  json settings = with_peer("b", neighbour.port());
  settings["peers"][0]["not_for"] = {"127.0.0.1"};
  const ProxyProcess proxy(settings);
  ASSERT_TRUE(await([&] { return proxy.digest_peer("b").at("state") == "usable"; }));
  const json page = explained(proxy, origin.url("/a"));
  const json& peer = page.at("peers").at(0);
  EXPECT_EQ(peer.at("claims"), true) << page;
  EXPECT_EQ(peer.at("asked"), "no");
  EXPECT_EQ(peer.at("why"), "its settings `for` and `not_for` leave out this host");
}

// As answer() does, which asks nobody for a password that others could read.
TEST(Explain, SaysWhereNoPasswordIsAskedFor) {
  const TemporaryDirectory directory;
  write_file(directory / "htpasswd",
             "anna:$2y$04$PeTXBQHKfskS4CFDHkB0k.GMZRYOxsvloI2xatMlh2arEGGNEfUPa\n");
  const json users{{"file", (directory / "htpasswd").string()}};
  const json rules = json::array({{{"action", "allow"}, {"users", {"*"}}}});
  const ProxyProcess proxy(json{{"access", {{"users", users}, {"rules", rules}}}});
  const auto refused = [&](const std::string& more) {
    return explained(proxy, "http://a.test/", more).at("verdict").get<std::string>();
  };
  EXPECT_TRUE(contains(refused(""), "refused with 407")) << refused("");
  EXPECT_TRUE(begins(refused("&user=anna"), "is not stored; would ask ")) << refused("&user=anna");
  EXPECT_EQ(proxy.page("/admin/explain?url=http://a.test/&user=berta").status, 400);
  const auto from_lan = refused("&client=10.0.0.5&user=anna");
  EXPECT_TRUE(contains(from_lan, "refused with 403")) << from_lan;
}

TEST(Explain, AsksNobodyWhereItRefuses) {
  const ProxyProcess proxy(json{{"access", {{"deny_to", {"192.0.2.0/24"}}}}});
  const json page = explained(proxy, "http://192.0.2.1/");
  EXPECT_EQ(page.at("action"), "refuse");
  EXPECT_EQ(page.at("origin").at("servers"), json::array());
  EXPECT_EQ(page.at("peers"), json::array());
}

TEST(Explain, JudgesAnHttpsUrlAsTheTunnelThatClientsAskFor) {
  const ProxyProcess proxy;
  const json page = explained(proxy, "https://a.test/x");
  EXPECT_EQ(page.at("method"), "CONNECT");
  EXPECT_EQ(page.at("verdict"),
            "would be tunnelled to the origin a.test:443; what passes is encrypted, and never "
            "cached");
  const std::string refused =
      "would be refused with 403: no tunnels to that port (setting "
      "access.connect_ports)";
  EXPECT_EQ(verdict(proxy, "https://a.test:8443/"), refused);
  for (const std::string url : {"a.test:8443", "https://[2001:db8::1]:8443/x", "http://a.test/"}) {
    EXPECT_EQ(explained(proxy, url, "&method=CONNECT").at("verdict"), refused) << url;
  }
  EXPECT_TRUE(begins(explained(proxy, "https://a.test:8443/", "&method=GET").at("verdict"),
                     "is not stored; would ask the origin https://a.test:8443"));
}

TEST(Explain, CallsNobodyRefusedAtAnOwnPage) {
  const ProxyProcess proxy;
  const json page = explained(proxy, proxy.url() + "/health", "&client=203.0.113.1");
  EXPECT_TRUE(page.at("own_page"));
  EXPECT_TRUE(page.at("allowed")) << page;
  EXPECT_EQ(page.at("origin").at("servers"), json::array()) << "it is no origin of itself";
}

TEST(Explain, FollowsAMappingOfReverseMode) {
  ScriptedOrigin origin;
  origin.on("/a", cacheable("a"));
  const ProxyProcess proxy(json{
      {"reverse",
       {{{"host", "www.a.test"}, {"to", "http://127.0.0.1:" + std::to_string(origin.port())}}}}});
  const json page = explained(proxy, "http://www.a.test/a");
  EXPECT_EQ(page.at("mode"), "reverse");
  EXPECT_EQ(page.at("origin").at("servers").at(0),
            "http://127.0.0.1:" + std::to_string(origin.port()));
  EXPECT_EQ(explained(proxy, "http://other.test/").at("mode"), "forward");
  EXPECT_TRUE(explained(proxy, proxy.url() + "/health").at("own_page"));
}

TEST(Explain, RefusesWhatIsNoRequest) {
  const ProxyProcess proxy;
  for (const std::string query :
       {"", "?url=", "?url=/a", "?url=http://", "?ulr=http://a.test/",
        "?url=http://a.test/&method=G%20T", "?url=a.test&method=CONNECT",
        "?url=http://a.test/&client=a.test", "?url=http://a.test/&url=http://b.test/",
        "?url=http://a.test/%0d%0aHost:%20b", "?url=http://u:p@a.test/"}) {
    EXPECT_EQ(proxy.page("/admin/explain" + query).status, 400) << query;
  }
  const ProxyProcess closed(json{{"access", {{"admin", json::array()}}}});
  EXPECT_EQ(closed.page("/admin/explain?url=http://a.test/").status, 403);
}

TEST(ExplainCommand, SpeaksInWordsAndExitsWithOneIfTheClientIsRefused) {
  Steered scene;
  ScriptedOrigin origin;
  origin.on("/a b", cacheable("a"));
  origin.on("/a", cacheable("a"));
  Client client(scene.proxy.port());
  client.get(origin.url("/a"));
  const Outcome outcome = scene.steer("explain", {origin.url("/a")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.errors;
  EXPECT_TRUE(
      begins(outcome.output, "GET " + origin.url("/a") + "\nwould be answered from memory; "))
      << outcome.output;
  EXPECT_EQ(scene.steer("explain", {"--client", "203.0.113.1", origin.url("/a")}).exit_code, 1);
  EXPECT_EQ(scene.steer("explain", {"nonsense"}).exit_code, 1);
  EXPECT_EQ(scene.steer("explain").exit_code, 2);
  EXPECT_TRUE(json::parse(scene.steer("explain", {"--json", origin.url("/a?b=c&d=%20")}).output)
                  .at("url")
                  .get<std::string>()
                  .ends_with("/a?b=c&d=%20"));
}

}  // namespace
}  // namespace scenario
