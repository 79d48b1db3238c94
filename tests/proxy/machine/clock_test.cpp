#include "proxy/machine/clock.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace proxy::machine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::system_clock;
using namespace std::chrono_literals;

// How far the clocks that a machine::Clock reads are ahead of the system's, in seconds.
struct Ahead {
  std::atomic<std::int64_t> wall{0};
  std::atomic<std::int64_t> steady{0};
  std::atomic<std::int64_t> since_start{0};
} ahead;

std::int64_t ahead_of(clockid_t clock) {
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
      return ahead.wall;
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC:
      return ahead.steady;
    case CLOCK_BOOTTIME:
      return ahead.since_start;
    default:
      return 0;
  }
}

}  // namespace
}  // namespace proxy::machine

// Takes the place of the C library's.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  if (result == 0) time->tv_sec += proxy::machine::ahead_of(clock);
  return result;
}

namespace proxy::machine {
namespace {

constexpr auto kTicks = 200ms;  // the machine may be busy, and the tick late

void expect_near(milliseconds got, milliseconds expected) {
  EXPECT_LE(got, expected + kTicks);
  EXPECT_GE(got, expected - kTicks);
}

class AClock : public testing::Test {
 protected:
  ~AClock() override { ahead.wall = ahead.steady = ahead.since_start = 0; }
  static void set(seconds by) { ahead.wall += by.count(); }
  static void sleep(seconds time) {
    ahead.wall += time.count();
    ahead.since_start += time.count();
  }
  static void pass(seconds time) {
    ahead.steady += time.count();
    sleep(time);
  }
  milliseconds since(machine::Clock::Time before) {
    return std::chrono::duration_cast<milliseconds>(clock_.now() - before);
  }
  // The only step of late.
  milliseconds step() {
    const auto steps = clock_.take_steps();
    EXPECT_EQ(steps.size(), 1U);
    return steps.empty() ? 0ms : steps[0].by;
  }

  machine::Clock clock_;
  const machine::Clock::Time begun_ = clock_.now();
};

TEST_F(AClock, BeginsAsWallTime) {
  EXPECT_GE(begun_, system_clock::now() - kTicks);
  EXPECT_LE(begun_, system_clock::now() + kTicks);
  EXPECT_EQ(clock_.ahead(), 0ms);
  EXPECT_EQ(clock_.shown(begun_), begun_);
}

TEST_F(AClock, NeverStepsBack) {
  auto last = clock_.now();
  for (int i = 0; i < 100'000; ++i) {
    if (i % 1000 == 0) set(i % 2000 == 0 ? 100h : -101h);
    const auto next = clock_.now();
    ASSERT_GE(next, last);
    last = next;
  }
}

TEST_F(AClock, GoesOnWhenWallTimeIsSetAndShowsIt) {
  for (const seconds by : {seconds(-24h), seconds(24h * 365), seconds(-2s)}) {
    const auto before = clock_.now();
    const auto shown = clock_.shown();
    set(by);
    expect_near(since(before), 0ms);
    expect_near(step(), by);
    expect_near(std::chrono::duration_cast<milliseconds>(clock_.shown() - shown), by);
    EXPECT_TRUE(clock_.doubt());
  }
}

TEST_F(AClock, CountsTheTimeThatTheMachineSleeps) {
  sleep(8h);
  expect_near(since(begun_), 8h);
  expect_near(clock_.ahead(), 0ms);
  EXPECT_TRUE(clock_.take_steps().empty());
  EXPECT_FALSE(clock_.doubt());
}

TEST_F(AClock, TellsASleepFromAClockThatIsSetMeanwhile) {
  sleep(8h);
  set(-1h);
  expect_near(since(begun_), 8h);
  expect_near(clock_.ahead(), -1h);
  expect_near(step(), -1h);
}

TEST_F(AClock, DoubtsNothingOnceAStepIsUndone) {
  set(24h * 365);
  (void)clock_.now();
  set(-24h * 365);
  expect_near(since(begun_), 0ms);
  EXPECT_EQ(clock_.take_steps().size(), 2U);
  EXPECT_FALSE(clock_.doubt());
}

TEST_F(AClock, DoubtsForAWhile) {
  set(-1h);
  EXPECT_TRUE(clock_.doubt());
  pass(machine::Clock::kDoubtful + 1s);
  EXPECT_FALSE(clock_.doubt());
  expect_near(since(begun_), machine::Clock::kDoubtful + 1s);
}

TEST(AClockThatStands, MovesOnlyWhenTimeIsLetPass) {
  const machine::Clock::Time begun{1000h};
  machine::Clock clock(begun);
  const auto steady = clock.steady();
  EXPECT_EQ(clock.now(), begun);
  EXPECT_EQ(clock.steady(), steady);
  clock.pass(1500ms);
  EXPECT_EQ(clock.now(), begun + 1500ms);
  EXPECT_EQ(clock.shown(), begun + 1500ms);
  EXPECT_EQ(clock.steady(), steady + 1500ms);
  EXPECT_EQ(clock.started(), begun);
  EXPECT_TRUE(clock.take_steps().empty());
}

}  // namespace
}  // namespace proxy::machine
