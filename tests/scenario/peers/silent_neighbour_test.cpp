// A neighbour that stops without a word keeps its connections and answers nothing.
#include <gtest/gtest.h>

#include <thread>

#include "tests/scenario/peers/peer_scene.hpp"
#include "tests/support/patience.hpp"

namespace scenario {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// Two neighbours with the digest's settings of a site.
struct Pair : Neighbours {
  Pair() : Neighbours(json{{"digest", nullptr}}) {
    if (!b_knows(0)) throw TimedOut("b does not know a");
  }

  bool is(std::string_view state) const { return b.digest_peer("a").at("state") == state; }
  double up() const { return b.metric("hearsay_peer_up{peer=\"a\"}"); }
  int good_polls() const {
    const json peer = b.digest_peer("a");
    return peer.at("polls").get<int>() - peer.at("polls_failed").get<int>();
  }
  bool said(std::string_view text) { return contains(b.process().errors(), text); }
  bool is_down() { return is("down") && up() == 0 && said("peer a is down: "); }
  bool is_back() { return is("usable") && up() == 1 && said("peer a is back, after "); }
};

TEST(SilentNeighbour, IsDownWithinFiveSecondsAndUpAsSoonAsItAnswers) {
  Pair pair;
  ASSERT_TRUE(await([&] { return pair.is("usable") && pair.up() == 1; }));
  pair.a.process().signal(SIGSTOP);
  EXPECT_TRUE(await([&] { return pair.is_down(); }, 5s)) << pair.b.digest().dump(2);
  pair.a.process().signal(SIGCONT);
  EXPECT_TRUE(await([&] { return pair.is_back(); }, allowed(3s))) << pair.b.digest().dump(2);
}

TEST(SilentNeighbour, IsDownWithinFiveSecondsAlsoIfItsDigestHasJustChanged) {
  ScriptedOrigin origin;
  origin.otherwise([](const Request&) { return cacheable("x"); });
  Pair pair;
  Client client(pair.a.port());
  // After a poll that was answered early there is a pause, and after the next one a longer pause.
  for (std::size_t stored = 1; stored <= 2; ++stored) {
    client.get(origin.url("/" + std::to_string(stored)));
    ASSERT_TRUE(pair.b_knows(stored));
  }
  pair.a.process().signal(SIGSTOP);
  EXPECT_TRUE(await([&] { return pair.is_down(); }, 5s)) << pair.b.digest().dump(2);
}

TEST(SilentNeighbour, IsNotDownIfItGetsNoProcessorForAMoment) {
  Pair pair;
  const int first = pair.good_polls();
  ASSERT_TRUE(await([&] { return pair.good_polls() > first; }));
  std::this_thread::sleep_for(900ms);  // near the end of the next hold
  pair.a.process().signal(SIGSTOP);
  std::this_thread::sleep_for(1500ms);
  const int before = pair.good_polls();
  pair.a.process().signal(SIGCONT);
  ASSERT_TRUE(await([&] { return pair.good_polls() > before; }));
  EXPECT_TRUE(pair.is("usable"));
  EXPECT_FALSE(pair.said("peer a is down"));
}

}  // namespace
}  // namespace scenario
