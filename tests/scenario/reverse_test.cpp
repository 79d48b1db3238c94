// Reverse mode: origin-form requests, answered for the origins that the settings name.
#include <gtest/gtest.h>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

std::string at(std::uint16_t port) {
  return "http://127.0.0.1:" + std::to_string(port);
}

json mapping(const std::string& host, const json& to) {
  return {{"host", host}, {"to", to}};
}

json gateway(const std::vector<json>& mappings) {
  return {{"reverse", mappings}, {"access", {{"deny_to", {"loopback"}}}}};
}

Response ask(std::uint16_t port, std::string_view path, std::string_view host,
             const Fields& fields = {}, std::string_view method = "GET") {
  Client client(port);
  client.send(origin_form_text(host, method, path, fields));
  return client.read(method);
}

TEST(Reverse, AnswersForTheOriginOfTheHostAndCaches) {
  ScriptedOrigin origin;
  origin.on("/a", cacheable("hello"));
  const ProxyProcess proxy(gateway({mapping("www.example.com", at(origin.port()))}));
  EXPECT_EQ(ask(proxy.port(), "/a", "www.example.com").body, "hello");
  const auto again = ask(proxy.port(), "/a", "WWW.example.com.");
  EXPECT_EQ(again.body, "hello");
  EXPECT_TRUE(is_hit(again)) << again.field("Cache-Status");
  ASSERT_EQ(origin.count(), 1U);
  EXPECT_EQ(origin.requests()[0].target, "/a") << "in origin-form";
  EXPECT_EQ(origin.requests()[0].field("Host"), "www.example.com");
}

TEST(Reverse, SendsTheMostExactMappingItsRequests) {
  ScriptedOrigin exact, ported, wild, any;
  for (auto* origin : {&exact, &ported, &wild, &any}) {
    origin->on("/a", Reply(200).body(std::to_string(origin->port())));
  }
  const ProxyProcess proxy(
      gateway({mapping("*", at(any.port())), mapping("*.example.com", at(wild.port())),
               mapping("www.example.com", at(exact.port())),
               mapping("www.example.com:8080", at(ported.port()))}));
  const std::pair<const char*, ScriptedOrigin*> cases[] = {{"www.example.com", &exact},
                                                           {"www.example.com:81", &exact},
                                                           {"www.example.com:8080", &ported},
                                                           {"a.b.example.com", &wild},
                                                           {"a.example.com:8080", &wild},
                                                           {"example.com", &any},
                                                           {"10.0.0.1", &any},
                                                           {"[::1]:81", &any}};
  for (const auto& [host, origin] : cases) {
    EXPECT_EQ(ask(proxy.port(), "/a", host).body, std::to_string(origin->port())) << host;
  }
}

TEST(Reverse, SendsTheHostThatTheSettingsSay) {
  ScriptedOrigin origin;
  auto mapped = mapping("*", at(origin.port()));
  mapped["send_host"] = "bucket.test";
  const ProxyProcess proxy(gateway({mapped}));
  ask(proxy.port(), "/a", "www.example.com");
  EXPECT_EQ(origin.requests().at(0).field("Host"), "bucket.test");
}

TEST(Reverse, AsksTheNextOriginWhileTheFirstRests) {
  ScriptedOrigin second;
  second.on("/a", Reply(200).body("second"));
  const auto refusing = ScriptedOrigin().port();
  const ProxyProcess proxy(gateway({mapping("*", {at(refusing), at(second.port())})}));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ask(proxy.port(), "/a", "a.test").body, "second");
  EXPECT_EQ(ask(proxy.port(), "/a", "a.test", {{"Content-Length", "0"}}, "POST").body, "second");
}

TEST(Reverse, AsksTheNextOriginWhereTheFirstSaysNothing) {
  ScriptedOrigin first, second;
  first.otherwise([](const support::Request&) { return Reply::hang_up(); });
  second.on("/a", Reply(200).body("second"));
  const ProxyProcess proxy(gateway({mapping("*", {at(first.port()), at(second.port())})}));
  EXPECT_EQ(ask(proxy.port(), "/a", "a.test").body, "second");
  EXPECT_EQ(ask(proxy.port(), "/a", "a.test").body, "second");
  EXPECT_EQ(first.count(), 1U) << "it rests";
}

TEST(Reverse, AsksTheNextOriginWhenTheFirstHasGoneAway) {
  auto first = std::make_unique<ScriptedOrigin>();
  ScriptedOrigin second;
  first->on("/a", Reply(200).body("first"));
  second.on("/a", Reply(200).body("second"));
  const ProxyProcess proxy(gateway({mapping("*", {at(first->port()), at(second.port())})}));
  Client client(proxy.port());
  const auto ask_again = [&client] {
    client.send("GET /a HTTP/1.1\r\nHost: a.test\r\n\r\n");
    return client.read().body;
  };
  EXPECT_EQ(ask_again(), "first");
  first.reset();
  EXPECT_EQ(ask_again(), "second") << "though a connection to the first was kept";
}

TEST(Reverse, DoesNotRepeatARequestThatMayHaveBeenExecuted) {
  ScriptedOrigin first, second;
  first.otherwise([](const support::Request&) { return Reply::hang_up(); });
  const ProxyProcess proxy(gateway({mapping("*", {at(first.port()), at(second.port())})}));
  EXPECT_EQ(ask(proxy.port(), "/a", "a.test", {{"Content-Length", "0"}}, "POST").status, 502);
  EXPECT_EQ(first.count(), 1U);
  EXPECT_EQ(second.count(), 0U);
}

TEST(Reverse, DoesNotAskTheNextOriginWhileTheFirstIsSlow) {
  ScriptedOrigin first, second;
  const Gate never;
  first.on("/slow", Reply(200).wait(never).body("late"));
  auto settings = gateway({mapping("*", {at(first.port()), at(second.port())})});
  settings["timeouts"] = {{"first_byte", "100ms"}};
  const ProxyProcess proxy(settings);
  EXPECT_EQ(ask(proxy.port(), "/slow", "a.test").status, 504);
  EXPECT_EQ(first.count(), 1U);
  EXPECT_EQ(second.count(), 0U);
}

TEST(Reverse, LetsAnOriginRestThatHangsUpOnAnUnrepeatableRequest) {
  ScriptedOrigin first, second;
  first.otherwise([](const support::Request&) { return Reply::hang_up(); });
  second.on("/a", Reply(200).body("second"));
  const ProxyProcess proxy(gateway({mapping("*", {at(first.port()), at(second.port())})}));
  const auto post = [&] {
    return ask(proxy.port(), "/a", "a.test", {{"Content-Length", "0"}}, "POST").status;
  };
  EXPECT_EQ(post(), 502);
  EXPECT_EQ(post(), 200) << "of the second";
}

TEST(Reverse, KeepsItsEntriesApartFromThoseOfForwardUsers) {
  ScriptedOrigin behind, named;
  behind.on("/a", cacheable("behind"));
  named.on("/a", cacheable("named"));
  const auto host = "127.0.0.1:" + std::to_string(named.port());
  auto settings = gateway({mapping("*", at(behind.port()))});
  settings["access"]["deny_to"] = json::array();
  const ProxyProcess proxy(settings);
  EXPECT_EQ(ask(proxy.port(), "/a", host).body, "behind");
  EXPECT_EQ(Client(proxy.port()).get("http://" + host + "/a").body, "named");
  EXPECT_EQ(ask(proxy.port(), "/a", host).body, "behind");
  EXPECT_EQ(behind.count() + named.count(), 2U) << "both are held";
}

TEST(Reverse, DropsResponsesThatAnUnsafeRequestChanged) {
  ScriptedOrigin origin;
  origin.on("/a", cacheable("hello"));
  const ProxyProcess proxy(gateway({mapping("*", at(origin.port()))}));
  ask(proxy.port(), "/a", "a.test");
  ask(proxy.port(), "/a", "a.test", {{"Content-Length", "0"}}, "POST");
  EXPECT_FALSE(is_hit(ask(proxy.port(), "/a", "a.test")));
}

TEST(Reverse, ReachesADeniedAddressForItsOriginAlone) {
  ScriptedOrigin origin;
  origin.on("/a", Reply(200).body("hello"));
  const ProxyProcess proxy(gateway({mapping("*", at(origin.port()))}));
  EXPECT_EQ(ask(proxy.port(), "/a", "a.test").body, "hello");
  EXPECT_EQ(ask(proxy.port(), "/a", "127.0.0.1").body, "hello");
  EXPECT_EQ(Client(proxy.port()).get(origin.url("/a")).status, 403);
}

// The lists judge the URL that a client requests, not the origin that a mapping names.
TEST(Reverse, RefusesListedUrlsButReachesItsOriginsAtListedAddresses) {
  const TemporaryDirectory directory;
  write_file(directory / "block", "127.0.0.0/8\na.test/private\n");
  ScriptedOrigin origin;
  origin.on("/a", Reply(200).body("hello"));
  auto settings = gateway({mapping("*", at(origin.port()))});
  settings["access"]["block"] = {(directory / "block").string()};
  const ProxyProcess proxy(settings);
  EXPECT_EQ(ask(proxy.port(), "/a", "a.test").body, "hello");
  EXPECT_EQ(ask(proxy.port(), "/private/a", "a.test").status, 403);
  EXPECT_EQ(ask(proxy.port(), "/a", "127.0.0.1").status, 403);
  EXPECT_EQ(origin.count(), 1U);
}

// The origin receives a Host all the same.
TEST(Reverse, RefusesListedUrlsToRequestsWithoutAHost) {
  const TemporaryDirectory directory;
  ScriptedOrigin origin;
  origin.otherwise([](const support::Request&) { return Reply(200).body("hello"); });
  auto mapped = mapping("*", at(origin.port()));
  mapped["send_host"] = "a.test";
  auto settings = gateway({mapped});
  write_file(directory / "block", "a.test/private\n");
  settings["access"]["block"] = {(directory / "block").string()};
  const ProxyProcess proxy(settings);
  const auto status = [&](std::string_view path) {
    Client client(proxy.port());
    client.send("GET " + std::string(path) + " HTTP/1.0\r\n\r\n");
    return client.read().status;
  };
  EXPECT_EQ(status("/private/a"), 403);
  EXPECT_EQ(status("/a"), 200);
}

// One URL has an entry of each mode, and responses in one mode do not change the other's entry.
TEST(Reverse, KeepsTheEffectsOfPostAndHeadInItsOwnKeySpace) {
  ScriptedOrigin behind, named;
  named.otherwise([](const support::Request&) { return cacheable("named"); });
  behind.on(
      "/a",
      Reply(200, {{"Content-Location", "/a"}, {"Cache-Control", "max-age=60"}}).body("behind"));
  const auto host = "127.0.0.1:" + std::to_string(named.port());
  auto settings = gateway({mapping("*", at(behind.port()))});
  settings["access"]["deny_to"] = json::array();
  const ProxyProcess proxy(settings);
  Client forward(proxy.port());
  EXPECT_EQ(forward.get("http://" + host + "/a").body, "named");
  ask(proxy.port(), "/a", host, {{"Content-Length", "0"}}, "POST");
  const auto posted = ask(proxy.port(), "/a", host);
  EXPECT_TRUE(is_hit(posted)) << posted.field("Cache-Status");
  EXPECT_EQ(posted.body, "behind");
  EXPECT_TRUE(is_hit(forward.get("http://" + host + "/a"))) << "POST went to another server";
  EXPECT_EQ(behind.count() + named.count(), 2U);
}

TEST(Reverse, UpdatesStoredResponsesByHead) {
  ScriptedOrigin origin;
  origin.on("/a", [](const support::Request& request) {
    const char* control = request.method == "HEAD" ? "max-age=60" : "max-age=0";
    return cacheable("hello", control).with("ETag", "\"1\"");
  });
  const ProxyProcess proxy(gateway({mapping("*", at(origin.port()))}));
  ask(proxy.port(), "/a", "a.test");
  ask(proxy.port(), "/a", "a.test", {}, "HEAD");
  EXPECT_TRUE(is_hit(ask(proxy.port(), "/a", "a.test")));
}

TEST(Reverse, RefreshesStaleResponsesThatItServes) {  // RFC 5861 3
  ScriptedOrigin origin;
  origin.on("/a", cacheable("old", "max-age=0, stale-while-revalidate=60").with("ETag", "\"1\""));
  const ProxyProcess proxy(gateway({mapping("*", at(origin.port()))}));
  ask(proxy.port(), "/a", "a.test");
  origin.on("/a", cacheable("new"));
  EXPECT_EQ(ask(proxy.port(), "/a", "a.test").body, "old");
  EXPECT_TRUE(await([&] { return ask(proxy.port(), "/a", "a.test").body == "new"; }));
}

TEST(Reverse, HeedsTheFieldsForGatewaysThatForwardModeDoesNot) {  // RFC 9213
  ScriptedOrigin origin;
  origin.on("/a", Reply(200, {{"Cache-Control", "no-store"}, {"CDN-Cache-Control", "max-age=60"}}));
  auto settings = gateway({mapping("*", at(origin.port()))});
  settings["access"]["deny_to"] = json::array();
  const ProxyProcess proxy(settings);
  for (const char* method : {"GET", "HEAD"}) ask(proxy.port(), "/a", "a.test", {}, method);
  EXPECT_TRUE(is_hit(ask(proxy.port(), "/a", "a.test")));
  Client forward(proxy.port());
  forward.get(origin.url("/a"));
  EXPECT_FALSE(is_hit(forward.get(origin.url("/a"))));
}

TEST(Reverse, KeepsSharedResponsesByTheRulesThatNeighboursKnow) {
  ScriptedOrigin origin;
  origin.on("/a", Reply(200, {{"Cache-Control", "no-store"}, {"CDN-Cache-Control", "max-age=60"}}));
  auto shared = mapping("a.test", at(origin.port()));
  shared["share"] = true;
  const ProxyProcess proxy(gateway({shared}));
  ask(proxy.port(), "/a", "a.test");
  EXPECT_FALSE(is_hit(ask(proxy.port(), "/a", "a.test")));
}

TEST(Reverse, ServesOnlyListedClients) {
  ScriptedOrigin origin;
  auto settings = gateway({mapping("*", at(origin.port()))});
  settings["access"]["clients"] = {"192.0.2.1"};
  const ProxyProcess proxy(settings);
  EXPECT_EQ(ask(proxy.port(), "/a", "a.test").status, 403);
  EXPECT_EQ(origin.count(), 0U);
}

TEST(Reverse, KeepsItsOwnPagesAtItsOwnAddress) {
  ScriptedOrigin origin;
  origin.otherwise([](const support::Request&) { return Reply(200).body("the origin's"); });
  const ProxyProcess proxy(gateway({mapping("*", at(origin.port()))}));
  for (const char* path : {"/health", "/metrics", "/digest"}) {
    EXPECT_NE(proxy.page(path).body, "the origin's") << path;
    EXPECT_EQ(ask(proxy.port(), path, "a.test").body, "the origin's") << path;
  }
  EXPECT_EQ(proxy.page("/").body, "the origin's");
}

TEST(Reverse, TellsNeighboursOfSharedMappingsAlone) {
  ScriptedOrigin origin;
  origin.on("/a", cacheable("hello"));
  auto shared = mapping("www.example.com", at(origin.port()));
  shared["share"] = true;
  const ProxyProcess a(gateway({mapping("*", at(origin.port())), shared}));
  ask(a.port(), "/a", "other.example.com");
  ask(a.port(), "/a", "www.example.com");
  const ProxyProcess b(with_peer("a", a.port()));
  ASSERT_TRUE(await([&] { return b.digest_peer("a").at("entries") == 1; }));
  EXPECT_EQ(Client(b.port()).get("http://www.example.com/a").body, "hello");
  EXPECT_EQ(origin.count(), 2U) << "not for the neighbour";
}

TEST(Reverse, AsksNeighboursForSharedMappingsAlone) {
  ScriptedOrigin origin, peer;
  peer.on(
      kDigestPath,
      digest_reply(digest_claiming({"http://www.example.com/a", "http://other.example.com/a"})));
  peer.sign_as("b");
  peer.on("/a", cacheable("from the peer"));
  origin.on("/a", cacheable("from the origin"));
  auto shared = mapping("www.example.com", at(origin.port()));
  shared["share"] = true;
  const ProxyProcess proxy(
      with_peer("b", peer.port(), gateway({mapping("*", at(origin.port())), shared})));
  ASSERT_TRUE(await([&] { return proxy.digest_peer("b").at("state") == "usable"; }));
  EXPECT_EQ(ask(proxy.port(), "/a", "www.example.com").body, "from the peer");
  EXPECT_EQ(ask(proxy.port(), "/a", "other.example.com").body, "from the origin");
}

TEST(Reverse, AnswersFromTheListOfKnownUrlsWithoutAskingForOthers) {
  const TemporaryDirectory directory;
  write_file(directory / "urls", "# all of them\nhttps://a.test/a?x=1\r\n\n/b\n");
  ScriptedOrigin origin;
  origin.otherwise([](const support::Request&) { return cacheable("hello"); });
  auto mapped = mapping("*", at(origin.port()));
  mapped["known"] = directory / "urls";
  const ProxyProcess proxy(gateway({mapped}));
  EXPECT_EQ(ask(proxy.port(), "/a?x=1", "a.test").status, 200);
  EXPECT_EQ(ask(proxy.port(), "/b", "b.test").status, 200);
  const auto asked = origin.count();
  for (const auto& [path, host] : {std::pair("/a", "a.test"), std::pair("/a?x=2", "a.test"),
                                   std::pair("/a?x=1", "b.test"), std::pair("/b?", "a.test")}) {
    const auto response = ask(proxy.port(), path, host);
    EXPECT_EQ(response.status, 404) << host << path;
    EXPECT_TRUE(contains(response.field("Cache-Status"), "detail=\"unknown-url\"")) << path;
  }
  EXPECT_EQ(origin.count(), asked);
}

TEST(Reverse, KnowsAUrlInTheFormThatARuleReducesItTo) {
  const TemporaryDirectory directory;
  write_file(directory / "urls", "/b\n");
  ScriptedOrigin origin;
  origin.otherwise([](const support::Request&) { return cacheable("hello"); });
  auto mapped = mapping("*", at(origin.port()));
  mapped["known"] = directory / "urls";
  auto settings = gateway({mapped});
  settings["rules"] = {{{"name", "r"}, {"host", "*"}, {"drop_query", {"utm_*"}}}};
  const ProxyProcess proxy(settings);
  EXPECT_EQ(ask(proxy.port(), "/b?utm_x=1", "a.test").status, 200);
  EXPECT_EQ(ask(proxy.port(), "/b?x=1", "a.test").status, 404);
  EXPECT_EQ(ask(proxy.port(), "/c?utm_x=1", "a.test").status, 404);
}

TEST(Reverse, SaysWhatIsWrongWithAListOfKnownUrls) {
  const TemporaryDirectory directory;
  auto mapped = mapping("*", "http://127.0.0.1:1");
  const auto complaint = [&](const std::filesystem::path& known) {
    mapped["known"] = known;
    write_file(directory / "settings.json", gateway({mapped}).dump());
    const auto outcome =
        run_to_end({{hearsay_program(), "check", "--config", directory / "settings.json"}});
    EXPECT_EQ(outcome.exit_code, 2);
    return outcome.errors;
  };
  EXPECT_TRUE(contains(complaint(directory / "none"), "reverse[0].known: "));
  write_file(directory / "urls", "/a\nnot a URL\n");
  EXPECT_TRUE(contains(complaint(directory / "urls"), "urls, line 2 is no URL"));
  write_file(directory / "urls", '/' + std::string(10'000, 'a'));
  EXPECT_TRUE(contains(complaint(directory / "urls"), "urls, line 1 is too long"));
}

}  // namespace
}  // namespace scenario
