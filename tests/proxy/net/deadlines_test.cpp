#include "proxy/net/deadlines.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "tests/support/loopback.hpp"
#include "tests/support/patience.hpp"

namespace proxy::net {
namespace {

using namespace std::chrono_literals;
using Clock = Watched::Clock;

struct Probe final : Watched {
  explicit Probe(support::Loop& loop) : Watched(loop.deadlines), io(loop.io) {}
  void on_expiry() override {
    ++expiries;
    expired_at = Clock::now();
    then();
  }

  asio::io_context& io;
  int expiries = 0;
  Clock::time_point expired_at;
  std::function<void()> then = [this] { io.stop(); };
};

TEST(Deadlines, AreNeverEarlyAndFewTicksLate) {
  support::Loop loop;
  Probe probe(loop);
  const auto begin = Clock::now();
  for (const auto after : {0ms, 1ms, 64ms, 200ms}) {
    const auto set_at = Clock::now();
    probe.expires_after(after);
    loop.io.restart();
    loop.io.run_for(5s);
    EXPECT_GE(probe.expired_at - set_at, after);
  }
  EXPECT_EQ(probe.expiries, 4);
  EXPECT_LT(Clock::now() - begin,
            265ms + 4 * 3 * Deadlines::kTick + 2s);  // 2 s: for a busy machine
}

TEST(Deadlines, KeepTheTimeWhileTheyRestAndWhenMuchIsAskedForIt) {
  support::Loop loop;
  for (const std::size_t often : {1, 1000, 1}) {
    loop.io.restart();
    loop.io.run_for(4 * Deadlines::kTick);
    for (std::size_t i = 0; i < often; ++i) {
      EXPECT_LT(Clock::now() - loop.deadlines.now(), support::allowed(4 * Deadlines::kTick));
    }
  }
}

// The wheel rests: nothing is due before the later deadline.
TEST(Deadlines, AreKeptIfTheyAreSetWhileTheWheelRests) {
  support::Loop loop;
  Probe late(loop);
  Probe early(loop);
  late.expires_after(3s);
  loop.io.run_for(4 * Deadlines::kTick);
  const auto set_at = Clock::now();
  early.expires_after(100ms);
  loop.io.restart();
  loop.io.run_for(5s);
  EXPECT_EQ(early.expiries, 1);
  EXPECT_EQ(late.expiries, 0);
  EXPECT_GE(early.expired_at - set_at, 100ms);
}

TEST(Deadlines, CostAThreadWithoutAnyHardlyAWakeUp) {
  support::Loop loop;
  const auto begin = Clock::now();
  std::size_t turns = 0;
  while (Clock::now() - begin < 2s) turns += loop.io.run_one_for(2s);
  EXPECT_LT(turns, 5U) << "of 31 ticks";
}

TEST(Deadlines, CanBeMovedLater) {
  support::Loop loop;
  Probe probe(loop);
  const auto set_at = Clock::now();
  probe.expires_after(100ms);
  probe.expires_after(400ms);
  loop.io.run_for(5s);
  EXPECT_EQ(probe.expiries, 1);
  EXPECT_GE(probe.expired_at - set_at, 400ms);
}

TEST(Deadlines, CanBeMovedEarlier) {
  support::Loop loop;
  Probe probe(loop);
  const auto set_at = Clock::now();
  probe.expires_after(1h);
  probe.expires_after(50ms);
  loop.io.run_for(5s);
  EXPECT_EQ(probe.expiries, 1);
  EXPECT_LT(probe.expired_at - set_at, support::allowed(4s));
}

TEST(Deadlines, BeyondTheWheelDoNotWrapAround) {
  support::Loop loop;
  Probe far(loop);
  Probe near(loop);
  far.expires_after(1024 * Deadlines::kTick + 70ms);
  near.expires_after(300ms);
  loop.io.run_for(5s);
  EXPECT_EQ(near.expiries, 1);
  EXPECT_EQ(far.expiries, 0);
}

TEST(Deadlines, OfTheForgottenAndTheDestroyedNeverExpire) {
  support::Loop loop;
  Probe forgotten(loop);
  Probe last(loop);
  auto destroyed = std::make_unique<Probe>(loop);
  forgotten.expires_after(10ms);
  destroyed->expires_after(10ms);
  last.expires_after(200ms);
  forgotten.expires_never();
  destroyed.reset();
  loop.io.run_for(5s);
  EXPECT_EQ(forgotten.expiries, 0);
  EXPECT_EQ(last.expiries, 1);
}

TEST(Deadlines, MaySetAndDestroyOthersWhenTheyExpire) {
  support::Loop loop;
  Probe first(loop);
  auto second = std::make_unique<Probe>(loop);
  first.expires_after(10ms);
  second->expires_after(10ms);
  first.then = [&] {
    second.reset();
    if (first.expiries == 1) {
      first.expires_after(0ms);
    } else {
      loop.io.stop();
    }
  };
  loop.io.run_for(5s);
  EXPECT_EQ(first.expiries, 2);
}

}  // namespace
}  // namespace proxy::net
