#include "peers/peer.hpp"

#include <gtest/gtest.h>

#include "tests/peers/samples.hpp"

namespace peers {
namespace {

using namespace std::chrono_literals;

TEST(KindOf, ReadsServerThenTheNearestCommentOfVia) {
  struct Case {
    const char* server;
    const char* via;
    PeerKind expected;
  };
  for (const Case& c :
       {Case{"Hearsay/0.1.0", "", PeerKind::hearsay},
        Case{"squid/5.7", "1.1 a.test (squid/5.7)", PeerKind::squid},
        Case{"squid", "", PeerKind::squid}, Case{"Squid/7.6", "", PeerKind::squid},
        Case{"", "1.1 a.test (squid/5.7)", PeerKind::squid},
        Case{"nginx", "1.1 x, 1.1 a.test (squid)", PeerKind::squid},
        Case{"Hearsay/0.1.0", "1.1 a.test (squid/5.7)", PeerKind::hearsay},
        Case{"", "1.1 a (squid/5.7), 1.1 b (varnish)", PeerKind::unknown},
        Case{"squidward/1", "", PeerKind::unknown}, Case{"hear", "1.1 a (", PeerKind::unknown},
        Case{"", "", PeerKind::unknown}}) {
    EXPECT_EQ(kind_of(c.server, c.via, PeerKind::unknown), c.expected)
        << c.server << " | " << c.via;
  }
}

TEST(KindOf, KeepsWhatWasKnownWhenTheAnswerDoesNotSay) {
  EXPECT_EQ(kind_of("", "", PeerKind::squid), PeerKind::squid);
}

TEST(Peer, HasATagOfItsPlace) {
  const Peer b(0, samples::peer("b", 3128));
  EXPECT_EQ(b.tag, Peer(1, samples::peer("renamed", 3128)).tag);
  EXPECT_NE(b.tag, Peer(0, samples::peer("b", 3129)).tag);
  for (std::uint16_t port = 1; port < 2000; ++port) {
    const auto tag = Peer(0, samples::peer("b", port)).tag;
    EXPECT_TRUE(tag >= 1 && tag <= 127) << port;
  }
}

TEST(StateOf, NamesWhyAPeersClaimsCountOrNot) {
  const SteadyTime now{1000s};
  Peer peer(0, samples::peer("b"));
  PollReport report;
  EXPECT_EQ(state_of(peer, report, now), PeerState::waiting);
  report.failures_in_a_row = 1;
  EXPECT_EQ(state_of(peer, report, now), PeerState::failing);
  report = samples::report_of({"x"}, now);
  report.failures_in_a_row = 1;
  EXPECT_EQ(state_of(peer, report, now), PeerState::usable) << "it may be an accident";
  report.failures_in_a_row = 2;
  EXPECT_EQ(state_of(peer, report, now + 59s), PeerState::down);
  EXPECT_EQ(state_of(peer, report, now + 60s), PeerState::stale);
  peer.accuracy.record({ClaimOutcome::refused, std::nullopt, 0}, now);
  EXPECT_EQ(state_of(peer, report, now), PeerState::resting);
  report.claims = {};
  EXPECT_EQ(state_of(peer, report, now), PeerState::stale);
}

TEST(StateOf, IsOffWhereTheSettingsSaySo) {
  config::PeerSettings settings = samples::peer("b");
  settings.digest = config::PeerDigest::none;
  EXPECT_EQ(state_of(Peer(0, settings), PollReport{}, SteadyTime{}), PeerState::off);
}

// Each text stands at the place of its enumerator.
TEST(Names, AreThoseOfDigestAndMetrics) {
  EXPECT_EQ(to_string(PeerKind::unknown), "unknown");
  EXPECT_EQ(to_string(PeerKind::squid), "squid");
  EXPECT_EQ(to_string(PeerState::off), "off");
  EXPECT_EQ(to_string(PeerState::resting), "resting");
  EXPECT_EQ(to_string(PeerState::down), "down");
  EXPECT_EQ(to_string(FalseHit::absent), "absent");
  EXPECT_EQ(to_string(FalseHit::untold), "untold");
  EXPECT_EQ(to_string(FalseHit::unfit), "unfit");
  EXPECT_EQ(to_string(Reason::none), "none");
  EXPECT_EQ(to_string(Reason::poll_failed), "poll-failed");
  EXPECT_EQ(to_string(Reason::refuses_us), "refuses-us");
}

}  // namespace
}  // namespace peers
