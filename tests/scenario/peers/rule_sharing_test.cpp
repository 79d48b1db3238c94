// What a rule of the settings keeps reusable is shared with neighbours that have the same rule, and
// with no other.
#include <gtest/gtest.h>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

constexpr int kUrls = 80;

json rules(const std::string& name, json effects) {
  effects["name"] = name;
  effects["host"] = "127.0.0.1";
  return {{"rules", {effects}}};
}

// "a" and "b" have the same rule, under different names and for different paths; "c", which asks
// "a", too, has none.
struct RuledSite {
  explicit RuledSite(const json& effects, const json& more_of_a = json::object()) {
    json of_a = Neighbours::named("a", rules("packages", effects));
    of_a["rules"][0]["paths"] = {"*.deb"};
    of_a.merge_patch(more_of_a);
    settings_of_a = with_peer("b", at_b.port(), of_a);
    a = std::make_unique<ProxyProcess>(settings_of_a, at_a);
    b = std::make_unique<ProxyProcess>(
        with_peer("a", at_a.port(), Neighbours::named("b", rules("debs", effects))), at_b);
    c = std::make_unique<ProxyProcess>(with_peer("a", at_a.port(), Neighbours::named("c", {})));
    origin.otherwise([](const Request& request) {
      return contains(request.target, "/told-") ? cacheable("hello", "max-age=0")
                                                : Reply(200).body("hello");
    });
  }

  std::string url(int number) const {
    return origin.url((number % 2 == 0 ? "/told-" : "/untold-") + std::to_string(number) + ".deb");
  }
  // Requests all URLs. Returns how many of them the proxy asked the origin for.
  std::size_t asked_by(const ProxyProcess& proxy, const Fields& fields = {}) const {
    const auto before = origin.count();
    Client client(proxy.port());
    for (int i = 0; i < kUrls; ++i) EXPECT_EQ(client.get(url(i), fields).body, "hello");
    return origin.count() - before;
  }
  static bool knows(const ProxyProcess& proxy, std::size_t entries) {
    return await([&] { return proxy.digest_peer("a").at("entries") == entries; });
  }
  static int of_a(const ProxyProcess& proxy, const char* what) {
    return proxy.digest_peer("a").at(what);
  }

  ScriptedOrigin origin;
  Listener at_a;
  Listener at_b;
  json settings_of_a;
  std::unique_ptr<ProxyProcess> a;
  std::unique_ptr<ProxyProcess> b;
  std::unique_ptr<ProxyProcess> c;
};

const json kLongFresh{{"min_fresh", "720h"}};

TEST(RuleSharing, GivesWhatARuleKeepsFreshToThoseWithTheRuleAlone) {
  const RuledSite site(kLongFresh);
  EXPECT_EQ(site.asked_by(*site.a), std::size_t{kUrls});
  ASSERT_TRUE(RuledSite::knows(*site.b, kUrls));
  EXPECT_LE(site.asked_by(*site.b), 1U);
  EXPECT_GE(RuledSite::of_a(*site.b, "true_hits"), kUrls - 1);
  EXPECT_EQ(RuledSite::of_a(*site.b, "false_hits"), 0);

  ASSERT_TRUE(RuledSite::knows(*site.c, kUrls));
  EXPECT_EQ(site.asked_by(*site.c), std::size_t{kUrls});
  EXPECT_LE(RuledSite::of_a(*site.c, "claims"), 1) << "as many as a digest claims in error";
  EXPECT_LE(RuledSite::of_a(*site.c, "false_hits"), 1);
  EXPECT_EQ(RuledSite::of_a(*site.c, "true_hits"), 0);
}

TEST(RuleSharing, LetsASquidKnowOfNothingThatItMayNotUse) {
  RuledSite site(kLongFresh, {{"digest", {{"squid_period", "1s"}, {"squid_pause", "0s"}}}});
  site.asked_by(*site.a);
  ASSERT_TRUE(RuledSite::knows(*site.b, kUrls));
  site.origin.on("/fresh.deb", cacheable("hello"));
  Client(site.a->port()).get(site.origin.url("/fresh.deb"));
  const auto claims = [&](const std::string& url) {
    const std::string text = site.a->page(kDigestPath).body;
    const auto digest =
        *digest::decode({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    return digest.filter.contains(digest::key_of(digest::Method::get, url));
  };
  ASSERT_TRUE(await([&] { return claims(site.origin.url("/fresh.deb")); }));
  int claimed = 0;
  for (int i = 0; i < kUrls; ++i) claimed += claims(site.url(i)) ? 1 : 0;
  EXPECT_LE(claimed, 1);
}

// A neighbour that guesses, as a Squid after a false claim does, gets 504 and nothing stale.
TEST(RuleSharing, AnswersANeighbourThatNamesAnotherRuleAsIfThereWereNone) {
  const RuledSite site(kLongFresh);
  site.asked_by(*site.a);
  Client neighbour(site.a->port());
  for (const char* rule : {"0000000000000000", "0123456789abcdef", "x"}) {
    const Fields asks{
        {"Cache-Control", "only-if-cached"}, {"Via", "1.1 d"}, {"Hearsay-Rule", rule}};
    const auto answer = neighbour.get(site.url(0), asks);
    EXPECT_EQ(answer.status, 504) << rule;
    EXPECT_TRUE(contains(nearest_cache_status(answer), "fwd=stale"))
        << answer.field("Cache-Status");
  }
}

TEST(RuleSharing, OutlivesARestartWithADisk) {
  const TemporaryDirectory home;
  RuledSite site(kLongFresh, {{"cache", {{"disk", {{"path", home.path()}, {"size", "64MiB"}}}}}});
  site.asked_by(*site.a);
  ASSERT_TRUE(await([&] { return site.a->metric("hearsay_disk_entries") >= kUrls; }));
  EXPECT_EQ(site.a->terminate(), 0);
  site.a = std::make_unique<ProxyProcess>(site.settings_of_a, site.at_a);
  ASSERT_TRUE(RuledSite::knows(*site.b, kUrls));
  EXPECT_LE(site.asked_by(*site.b), 1U);
  EXPECT_LE(RuledSite::of_a(*site.c, "claims"), 1);
}

// The owner of the site says that all may see it; the neighbour's administrator has not said so.
TEST(RuleSharing, KeepsWhatCredentialsOpenedFromNeighboursWithoutTheRule) {
  RuledSite site(json{{"authorization", "ignore"}});
  site.origin.otherwise([](const Request& request) {
    return request.has("Authorization") ? cacheable("hello") : Reply(401).body("who are you?");
  });
  EXPECT_EQ(site.asked_by(*site.a, {{"Authorization", "Basic eDp5"}}), std::size_t{kUrls});
  ASSERT_TRUE(RuledSite::knows(*site.b, kUrls));
  EXPECT_LE(site.asked_by(*site.b), 1U) << "without credentials";
  ASSERT_TRUE(RuledSite::knows(*site.c, kUrls));
  EXPECT_EQ(Client(site.c->port()).get(site.url(0)).status, 401);
  EXPECT_EQ(Client(site.c->port()).get(site.url(1)).status, 401);
  EXPECT_EQ(RuledSite::of_a(*site.c, "true_hits"), 0);
}

}  // namespace
}  // namespace scenario
