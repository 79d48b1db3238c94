// What the polls of many neighbours cost, and how they are held.
#include <algorithm>
#include <atomic>
#include <deque>

#include "tests/peers/exchange_scene.hpp"

namespace peers {
namespace {

TEST_F(ExchangeTest, KeepsAConnectionToEachPeer) {
  std::deque<ScriptedPeer> peers;
  std::vector<config::PeerSettings> settings;
  for (int i = 0; i < 12; ++i) {
    const auto& peer =
        peers.emplace_back([](std::size_t number) { return number == 0 ? good() : unchanged(); });
    settings.push_back(samples::peer("p" + std::to_string(i), peer.port()));
  }
  start(settings);
  ASSERT_TRUE(reached([&] {
    const auto all = directory_->status(now());
    return std::all_of(all.begin(), all.end(),
                       [](const PeerStatus& peer) { return peer.polls.made >= 5; });
  }));
  for (const auto& peer : peers) EXPECT_EQ(peer.connections(), 1U);
}

TEST_F(ExchangeTest, AsksNothingWhileItsPollIsHeld) {
  Gate gate;
  ScriptedPeer peer([&](std::size_t number) {
    if (number == 0) return good();
    if (number > 1) return unchanged();
    const auto body = body_of(native_of({"y"}, 6));
    return Reply(200, kHearsay).sized(body.size()).wait(gate).send(body);
  });
  start(peer, {.stall = 1s, .hold = 10s});
  ASSERT_TRUE(reached([&] { return peer.count() == 2; }));
  ASSERT_TRUE(beats_pass(400)) << "for longer than `stall`";
  EXPECT_EQ(peer.count(), 2U);
  EXPECT_EQ(status().polls.failed, 0U);
  gate.open();
  EXPECT_TRUE(reached([&] { return claims("y"); }));
}

TEST_F(ExchangeTest, APeerThatKeepsSilentIsDownAfterTwoPollsAndTheTickKnowsItAtOnce) {
  ScriptedPeer peer([](std::size_t number) { return number == 0 ? good() : Reply().wait(Gate()); });
  settings_.period = 1h;
  directory_.emplace(std::vector{samples::peer("b", peer.port())});
  std::atomic<bool> down = false;
  const auto tick = [&] {
    if (status().state != PeerState::down) return;
    down = true;
    down.notify_all();
  };
  const SteadyTime before = now();
  auto needs = this->needs(tick);
  needs.limits = {.silence = 200ms, .hold = 100ms};
  const Exchange exchange(std::move(needs));
  down.wait(false);
  EXPECT_LT(now() - before, support::allowed(2s));
  EXPECT_EQ(status().polls.failed, 2U);
  EXPECT_EQ(status().last_error, "Timeout was reached");
}

TEST_F(ExchangeTest, AnAnswerThatFallsSilentOnItsWayIsAFailureAsSoon) {
  ScriptedPeer peer([](std::size_t number) {
    return number == 0 ? good() : Reply(200, kHearsay).sized(2000).send("x").wait(Gate());
  });
  start(peer, {.stall = 30s, .silence = 200ms});
  EXPECT_TRUE(reached([&] { return status().state == PeerState::down; }));
}

TEST_F(ExchangeTest, APeerThatIsDownHasMoreTimeToAnswer) {
  ScriptedPeer peer([](std::size_t number) {
    const auto delay = support::allowed(number == 0 ? 0ms : 500ms);
    return good().slow(delay, 0);
  });
  start(peer, {.stall = 20s, .silence = 200ms, .hold = 0ms});
  ASSERT_TRUE(reached([&] { return status().state == PeerState::down; }));
  EXPECT_TRUE(reached([&] { return status().state == PeerState::usable; }));
  EXPECT_EQ(status().polls.failed, 2U);
}

// Each is a sign of life, and there are too few to exceed the limit of a head.
TEST_F(ExchangeTest, InterimHeadsKeepNoPollBeyondItsTime) {
  Reply drip(200, kHearsay);
  for (int i = 0; i < 1000; ++i) drip.interim("HTTP/1.1 102 Processing", {});
  drip.slow(0ms, 500);
  ScriptedPeer peer([&](std::size_t number) { return number == 0 ? good() : drip; });
  start(peer, {.total = 500ms, .stall = 30s, .silence = 20s, .hold = 0ms});
  ASSERT_TRUE(reached([&] { return status().polls.failed == 1; }));
  EXPECT_EQ(status().last_error, "Timeout was reached");
  EXPECT_TRUE(claims("x"));
}

TEST_F(ExchangeTest, TicksAtOnceWhenItsAlarmRings) {
  settings_.period = 10s;
  threads::Alarm alarm;
  std::atomic<int> ticks = 0;
  directory_.emplace(std::vector<config::PeerSettings>{});
  const auto tick = [&] {
    alarm.set();
    ++ticks;
    ticks.notify_all();
  };
  auto needs = this->needs(tick);
  needs.hurry = &alarm;
  const Exchange exchange(std::move(needs));
  ticks.wait(0);
  const SteadyTime before = now();
  alarm.ring();
  ticks.wait(1);
  EXPECT_LT(now() - before, support::allowed(500ms));
}

}  // namespace
}  // namespace peers
