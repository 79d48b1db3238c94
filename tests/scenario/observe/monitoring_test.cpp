// /health and /metrics, the pages for monitoring.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/scenario/peers/peer_scene.hpp"

namespace scenario {
namespace {

TEST(Monitoring, SaysThatTheProxyIsAlive) {
  const ProxyProcess proxy;
  EXPECT_EQ(proxy.page("/health").status, 200);
}

TEST(Monitoring, KnowsItsPagesAndNoOthers) {
  const ProxyProcess proxy;
  EXPECT_EQ(proxy.page("/squid-internal-dynamic/netdb").status, 404);
  EXPECT_EQ(proxy.page("/nothing").status, 404);
}

TEST(Monitoring, SpeaksThePrometheusTextFormat) {
  PeerScene scene({"/a"});
  const Response page = scene.proxy->page("/metrics");
  EXPECT_TRUE(page.field("Content-Type").starts_with("text/plain; version=0.0.4"));
  const testing::Matcher<std::string> comment = testing::MatchesRegex("# (HELP|TYPE) [a-z_]+ .+");
  const testing::Matcher<std::string> sample =
      testing::MatchesRegex("[a-z_]+([{][a-z_]+=\"[^\"]*\"(,[a-z_]+=\"[^\"]*\")*[}])? [0-9.e+-]+");
  std::istringstream lines(page.body);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(comment.Matches(line) || sample.Matches(line)) << line;
  }
}

TEST(Monitoring, CountsWhatHappens) {
  Scene scene;
  scene.origin.on("/a", cacheable("hello"));
  for (int i = 0; i < 3; ++i) scene.client.get(scene.origin.url("/a"));
  const ProxyProcess& proxy = scene.proxy;
  // A request is counted after its response is sent.
  EXPECT_TRUE(await([&] { return proxy.metric("hearsay_requests_total{result=\"hit\"}") == 2; }));
  EXPECT_EQ(proxy.metric("hearsay_requests_total{result=\"miss\"}"), 1);
  EXPECT_EQ(proxy.metric("hearsay_body_bytes_total{source=\"origin\"}"), 5);
  EXPECT_EQ(proxy.metric("hearsay_body_bytes_total{source=\"cache\"}"), 10);
  EXPECT_EQ(proxy.metric("hearsay_cache_entries"), 1);
  EXPECT_GT(proxy.metric("hearsay_cache_bytes"), 5);
  // The scene's client and the one that asks; earlier connections may be closing.
  EXPECT_TRUE(await([&] { return proxy.metric("hearsay_connections") == 2; }));
}

TEST(Monitoring, CountsPerPeer) {
  PeerScene scene({"/a", "/b"});
  scene.peer.on("/a", cacheable("from the peer"));
  scene.peer.on("/b", Reply(504));
  scene.client->get(scene.origin.url("/a"));
  scene.client->get(scene.origin.url("/b"));
  EXPECT_EQ(scene.proxy->metric("hearsay_peer_true_hits_total{peer=\"b\"}"), 1);
  EXPECT_EQ(scene.proxy->metric("hearsay_peer_false_hits_total{peer=\"b\"}"), 1);
  EXPECT_EQ(scene.proxy->metric("hearsay_body_bytes_total{source=\"sibling\"}"), 13);
}

}  // namespace
}  // namespace scenario
