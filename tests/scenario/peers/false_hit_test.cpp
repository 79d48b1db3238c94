// The causes of false hits, read from the neighbour's answers and counted.
#include <gtest/gtest.h>

#include <cmath>

#include "peers/native_target.hpp"
#include "tests/scenario/peers/peer_scene.hpp"
#include "tests/support/temporary_directory.hpp"

namespace scenario {
namespace {

// "b" holds some of the origin's pages. "a" has read b's digest once, so it does not learn of later
// changes at b.
struct OutOfDate {
  explicit OutOfDate(const std::vector<std::string>& paths, const char* name_of_a = "a",
                     const Fields& fields = {})
      : b(json{{"name", "b"}}) {
    Client client(b.port());
    for (const auto& path : paths) client.get(origin.url(path), fields);
    if (!await([&] { return b.digest().at("entries") == paths.size(); })) {
      throw TimedOut("b claims too little: " + b.digest().dump(2));
    }
    a = std::make_unique<ProxyProcess>(
        with_peer("b", b.port(), {{"name", name_of_a}, {"digest", {{"poll", "1h"}}}}));
    if (!await([&] { return books().at("entries") == paths.size(); })) {
      throw TimedOut("a knows too little: " + a->digest().dump(2));
    }
  }

  json books() const { return a->digest_peer("b"); }
  void purge_at_b(const std::string& path) {
    Client(b.port()).request("POST", origin.url(path), {}, "x");
  }
  // The Cache-Status of a's response.
  std::string ask(const std::string& path, const Fields& fields = {}) {
    const Response response = Client(a->port()).get(origin.url(path), fields);
    EXPECT_EQ(response.status, 200);
    return nearest_cache_status(response);
  }
  // /digest and /metrics count this many false hits, all of this cause.
  void expect_all(const std::string& cause, std::size_t count) {
    const json told = books();
    EXPECT_EQ(told.at("false_hits"), count) << told.dump(2);
    EXPECT_EQ(told.at("false_hit_causes").at(cause), count) << told.dump(2);
    for (const auto& [name, value] : told.at("false_hit_causes").items()) {
      const auto labels = "{peer=\"b\",cause=\"" + name + "\"}";
      EXPECT_EQ(a->metric("hearsay_peer_false_hits_by_cause_total" + labels), value) << name;
    }
    EXPECT_EQ(a->metric("hearsay_peer_false_hits_total{peer=\"b\"}"), count);
  }

  struct Pages : ScriptedOrigin {
    Pages() {
      otherwise([](const Request&) { return cacheable("hello").with("Vary", "X-Lang"); });
    }
  };
  Pages origin;
  ProxyProcess b;
  std::unique_ptr<ProxyProcess> a;
};

TEST(FalseHit, OfWhatLeftSinceIsGone) {
  OutOfDate scene({"/a", "/b"});
  scene.purge_at_b("/a");
  EXPECT_TRUE(contains(scene.ask("/a"), "detail=\"false-hit/b because/gone\""));
  scene.expect_all("gone", 1);
}

TEST(FalseHit, OfWhatBecameUnusableIsStale) {
  OutOfDate scene({"/a"});
  scene.origin.on("/a", cacheable("hello", "no-cache").with("ETag", "\"v2\""));
  Client(scene.b.port()).get(scene.origin.url("/a"), {{"Cache-Control", "no-cache"}});
  EXPECT_TRUE(contains(scene.ask("/a"), "because/stale"));
  scene.expect_all("stale", 1);
}

TEST(FalseHit, OfWhatIsTooOldForTheRequestIsStale) {
  OutOfDate scene({"/a"});
  EXPECT_TRUE(contains(scene.ask("/a", {{"Cache-Control", "min-fresh=1000000"}}), "because/stale"));
  scene.expect_all("stale", 1);
}

TEST(FalseHit, OfAnotherVariantIsVariant) {
  OutOfDate scene({"/a"}, "a", {{"X-Lang", "de"}});
  EXPECT_TRUE(contains(scene.ask("/a", {{"X-Lang", "fr"}}), "because/variant"));
  scene.expect_all("variant", 1);
}

// Both proxies have one name, so b takes the request for a loop.
TEST(FalseHit, OfANeighbourThatWouldNotAnswerIsRefused) {
  OutOfDate scene({"/a"}, "b");
  scene.purge_at_b("/a");
  EXPECT_TRUE(contains(scene.ask("/a"), "because/refused"));
  scene.expect_all("refused", 1);
}

TEST(FalseHit, OfANeighbourThatSaysNothingIsUntold) {
  PeerScene scene({"/a", "/b"});
  scene.peer.on("/a", Reply(504));
  scene.peer.on("/b", Reply(504, {{"Cache-Status", "b; fwd="}}));
  for (const char* path : {"/a", "/b"}) {
    const Response response = scene.client->get(scene.origin.url(path));
    EXPECT_TRUE(contains(response.field("Cache-Status"), "detail=\"false-hit/b\""));
  }
  EXPECT_EQ(scene.books().at("false_hit_causes").at("untold"), 2);
}

// A digest of this run claims nothing that left before it.
TEST(FalseHit, AfterARestartIsUnknownOnlyToWhomHasAnOlderDigest) {
  const TemporaryDirectory home;
  const json settings{{"cache", {{"disk", {{"path", home / "cache"}, {"size", "64MiB"}}}}}};
  OutOfDate::Pages origin;
  {
    ProxyProcess before(settings);
    Client(before.port()).get(origin.url("/a"));
    EXPECT_EQ(before.terminate(), 0);
  }
  const ProxyProcess b(settings);
  const std::string etag = b.page(std::string(peers::kNativePath)).field("ETag");
  const auto told = [&](const std::string& digest) {
    const Fields fields{{"Cache-Control", "only-if-cached"}, {"Hearsay-Digest", digest}};
    return nearest_cache_status(Client(b.port()).get(origin.url("/never"), fields));
  };
  EXPECT_TRUE(contains(told(etag), "fwd=uri-miss")) << told(etag);
  EXPECT_FALSE(contains(told(etag), "detail")) << told(etag);
  EXPECT_TRUE(contains(told("\"0000000000000000-1\""), "detail=\"unknown\""))
      << told("\"0000000000000000-1\"");
}

// The smallest digest allowed claims one URL in ten in error.
TEST(FalseHit, OfTheFiltersErrorIsAbsentAsOftenAsPredicted) {
  constexpr int kHeld = 800;  // near the 819 at which the digest would grow
  constexpr int kAsked = 400;
  OutOfDate::Pages origin;
  const ProxyProcess b(json{{"name", "b"}, {"digest", {{"bits_per_entry", 4}}}});
  Client at_b(b.port());
  for (int i = 0; i < kHeld; ++i) at_b.get(origin.url("/held/" + std::to_string(i)));
  const ProxyProcess a(with_peer("b", b.port(), {{"name", "a"}}));
  ASSERT_TRUE(await([&] { return a.digest_peer("b").at("entries") == kHeld; }));
  Client at_a(a.port());
  for (int i = 0; i < kAsked; ++i) at_a.get(origin.url("/asked/" + std::to_string(i)));

  const json books = a.digest_peer("b");
  const int absent = books.at("false_hit_causes").at("absent");
  EXPECT_EQ(books.at("false_hits"), absent) << books.dump(2);
  EXPECT_EQ(books.at("claims"), absent);
  EXPECT_EQ(books.at("lookups"), kAsked);
  const double observed = books.at("observed_false_positive_rate");
  const double predicted = books.at("false_positive_rate");
  EXPECT_DOUBLE_EQ(observed, double(absent) / kAsked);
  const double deviation = std::sqrt(predicted * (1 - predicted) / kAsked);
  EXPECT_NEAR(observed, predicted, 5 * deviation);
  EXPECT_GT(predicted, 0.05);
  EXPECT_NEAR(a.metric("hearsay_peer_observed_false_positive_ratio{peer=\"b\"}"), observed, 1e-9);
  EXPECT_EQ(a.metric("hearsay_peer_lookups_total{peer=\"b\"}"), kAsked);
}

}  // namespace
}  // namespace scenario
