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
    Kind expected;
  };
  for (const Case& c :
       {Case{"Hearsay/0.1.0", "", Kind::hearsay},
        Case{"squid/5.7", "1.1 a.test (squid/5.7)", Kind::squid}, Case{"squid", "", Kind::squid},
        Case{"Squid/7.6", "", Kind::squid}, Case{"", "1.1 a.test (squid/5.7)", Kind::squid},
        Case{"nginx", "1.1 x, 1.1 a.test (squid)", Kind::squid},
        Case{"Hearsay/0.1.0", "1.1 a.test (squid/5.7)", Kind::hearsay},
        Case{"", "1.1 a (squid/5.7), 1.1 b (varnish)", Kind::unknown},
        Case{"squidward/1", "", Kind::unknown}, Case{"hear", "1.1 a (", Kind::unknown},
        Case{"", "", Kind::unknown}}) {
    EXPECT_EQ(kind_of(c.server, c.via, Kind::unknown), c.expected) << c.server << " | " << c.via;
  }
}

TEST(KindOf, KeepsWhatWasKnownWhenTheAnswerDoesNotSay) {
  EXPECT_EQ(kind_of("", "", Kind::squid), Kind::squid);
}

TEST(StateOf, NamesWhyAPeersClaimsCountOrNot) {
  const Time now{1000s};
  Peer peer(0, samples::peer("b"));
  Report report;
  EXPECT_EQ(state_of(peer, report, now), State::waiting);
  report.failures_in_a_row = 1;
  EXPECT_EQ(state_of(peer, report, now), State::failing);
  report = samples::report_of({"x"}, now);
  report.failures_in_a_row = 3;
  EXPECT_EQ(state_of(peer, report, now + 59s), State::usable);
  EXPECT_EQ(state_of(peer, report, now + 60s), State::stale);
  peer.accuracy.note(ClaimOutcome::refused, std::nullopt, 0, now);
  EXPECT_EQ(state_of(peer, report, now), State::resting);
  report.claims = {};
  EXPECT_EQ(state_of(peer, report, now), State::stale);
}

TEST(StateOf, IsOffWhereTheSettingsSaySo) {
  config::Peer settings = samples::peer("b");
  settings.digest = config::PeerDigest::none;
  EXPECT_EQ(state_of(Peer(0, settings), Report{}, Time{}), State::off);
}

}  // namespace
}  // namespace peers
