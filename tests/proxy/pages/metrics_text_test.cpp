#include "proxy/pages/texts.hpp"

#include <gtest/gtest.h>

#include "tests/peers/samples.hpp"
#include "tests/proxy/scene.hpp"

namespace proxy::pages {
namespace {

TEST(MetricsText, TellsOfAPeerWhatDigestJsonTells) {
  auto settings = client::quiet_settings();
  settings.peers = {peers::samples::peer("b")};
  Scene scene(settings);
  const auto now = std::chrono::steady_clock::now();
  scene.directory.update(0, peers::samples::report_of({"x"}, now));
  const auto claimants = scene.directory.claimants(peers::samples::key("x"), now);
  scene.directory.record(claimants[0],
                         {peers::ClaimOutcome::false_hit, {}, 0, peers::FalseHit::absent}, now);
  claimants[0]->accuracy.probed();
  const auto text = metrics_text(scene.shared.pages, *scene.policy);
  for (const std::string sample :
       {"false_hits_total{peer=\"b\"} 1", "lookups_total{peer=\"b\"} 1",
        "false_hits_by_cause_total{peer=\"b\",cause=\"absent\"} 1",
        "false_hits_by_cause_total{peer=\"b\",cause=\"untold\"} 0", "probes_total{peer=\"b\"} 1",
        "false_misses_total{peer=\"b\"} 0", "checks_total{peer=\"b\"} 0",
        "contradictions_total{peer=\"b\"} 0", "false_miss_ratio{peer=\"b\"} 0",
        "digest_sent_bytes_total{peer=\"b\"} 0", "observed_false_positive_ratio{peer=\"b\"} 1",
        "state{peer=\"b\",state=\"usable\",reason=\"none\"} 1",
        "predicted_false_positive_ratio{peer=\"b\"} ", "digest_age_seconds{peer=\"b\"} "}) {
    EXPECT_NE(text.find("\nhearsay_peer_" + sample), std::string::npos) << sample;
  }
}

TEST(MetricsText, QuotesThePeersNames) {
  auto settings = client::quiet_settings();
  settings.peers = {peers::samples::peer("b\"\\")};
  Scene scene(settings);
  const auto text = metrics_text(scene.shared.pages, *scene.policy);
  EXPECT_NE(text.find("hearsay_peer_true_hits_total{peer=\"b\\\"\\\\\"} 0\n"), std::string::npos);
  EXPECT_NE(text.find("hearsay_peer_up{peer=\"b\\\"\\\\\"} 0\n"), std::string::npos);
  EXPECT_EQ(text.find("hearsay_peer_digest_age_seconds{"), std::string::npos) << "unknown";
  EXPECT_NE(text.find("hearsay_memory_limit_bytes 268435456\n"), std::string::npos);
}

TEST(MetricsText, NamesOriginsOfTheSettingsAlone) {
  Scene scene;
  const auto now = std::chrono::steady_clock::now();
  const auto fail = [&](const char* host, upstream::NamedBy trust) {
    for (int i = 0; i < 5; ++i) {
      const upstream::Failure failure{
          upstream::Failure::Where::upstream, upstream::Failure::What::cut, {}};
      scene.shared.upstream.health.failed({false, host, 80, trust}, failure, now);
    }
  };
  fail("ours.test", upstream::NamedBy::configured);
  fail("theirs.test", upstream::NamedBy::client);
  fail("others.test", upstream::NamedBy::client);
  const auto text = metrics_text(scene.shared.pages, *scene.policy);
  EXPECT_NE(
      text.find("\nhearsay_origin_failed_in_a_row{origin=\"http://ours.test:80\",why=\"cut\"} 5\n"),
      std::string::npos);
  EXPECT_NE(text.find("\nhearsay_other_origins_failing 2\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("theirs"), std::string::npos);
}

}  // namespace
}  // namespace proxy::pages
