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
  // A poll that is answered early is followed by a pause, and a second one by a longer one.
  for (std::size_t stored = 1; stored <= 2; ++stored) {
    client.get(origin.url("/" + std::to_string(stored)));
    ASSERT_TRUE(pair.b_knows(stored));
  }
  pair.a.process().signal(SIGSTOP);
  EXPECT_TRUE(await([&] { return pair.is_down(); }, 5s)) << pair.b.digest().dump(2);
}

TEST(SilentNeighbour, IsNotDownIfItGetsNoProcessorForAMoment) {
  Pair pair;
  pair.a.process().signal(SIGSTOP);
  std::this_thread::sleep_for(1500ms);
  pair.a.process().signal(SIGCONT);
  ASSERT_TRUE(await([&] {
    return pair.b.digest_peer("a").at("polls_failed") > 0 ||
           pair.b.digest_peer("a").at("age_seconds") < 1;
  }));
  EXPECT_TRUE(await([&] { return pair.is("usable"); }));
  EXPECT_FALSE(pair.said("peer a is down"));
}

}  // namespace
}  // namespace scenario
