#include "proxy/net/wakeup.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/run.hpp"

namespace proxy::net {
namespace {

using namespace std::chrono_literals;
using support::run;
using Woken = Wakeup::Woken;

net::Task<Woken> woken_by(Wakeup::Wait wait) {
  co_return co_await wait;
}

TEST(Wakeup, KeepsANotificationThatComesFirst) {
  boost::asio::io_context io(1);
  Wakeup wakeup(io.get_executor());
  wakeup.notify();
  EXPECT_EQ(run(io, woken_by(wakeup.wait())), Woken::notified);
}

TEST(Wakeup, SeveralNotificationsBeforeOneWaitCountOnce) {
  boost::asio::io_context io(1);
  Wakeup wakeup(io.get_executor());
  wakeup.notify();
  io.poll();
  wakeup.notify();
  wakeup.notify();
  EXPECT_EQ(run(io, woken_by(wakeup.wait(1h))), Woken::notified);
  EXPECT_EQ(run(io, woken_by(wakeup.wait(1ms))), Woken::timed_out);
}

TEST(Wakeup, WaitsNoLongerThanItIsTold) {
  boost::asio::io_context io(1);
  Wakeup wakeup(io.get_executor());
  EXPECT_EQ(run(io, woken_by(wakeup.wait(1ms))), Woken::timed_out);
  wakeup.notify();
  EXPECT_EQ(run(io, woken_by(wakeup.wait(1h))), Woken::notified) << "after a time-out as before";
}

TEST(Wakeup, EndsAWaitThatHasBegunWithAndWithoutAnEnd) {
  boost::asio::io_context io(1);
  Wakeup wakeup(io.get_executor());
  using AtMost = std::optional<std::chrono::milliseconds>;
  for (const auto& at_most : {AtMost(), AtMost(1h), AtMost(), AtMost(1h)}) {
    std::optional<Woken> woken;
    net::spawn(io.get_executor(), woken_by(wakeup.wait(at_most)),
               [&](const std::exception_ptr&, Woken how) { woken = how; });
    io.restart();
    io.poll();
    EXPECT_FALSE(woken);
    wakeup.notify();
    io.restart();
    io.poll();
    EXPECT_EQ(woken, Woken::notified);
  }
}

net::Task<void> wait_in_turn(Wakeup& wakeup, Wakeup::Clock::time_point until,
                             std::vector<Wakeup::Clock::time_point>& ended) {
  EXPECT_EQ(co_await wakeup.wait_until(until), Woken::timed_out);
  EXPECT_GE(Wakeup::Clock::now(), until);
  ended.push_back(until);
}

TEST(Wakeup, EndsTheWaitsOfOneThreadInTheOrderOfTheirEnds) {
  boost::asio::io_context io(1);
  std::deque<Wakeup> wakeups;
  std::vector<Wakeup::Clock::time_point> ended;
  const auto now = Wakeup::Clock::now();
  for (const auto after : {90ms, 5ms, 120ms, 5ms, 20ms}) {
    wakeups.emplace_back(io.get_executor());
    net::spawn(io.get_executor(), wait_in_turn(wakeups.back(), now + after, ended));
  }
  io.run_for(20s);
  EXPECT_EQ(ended.size(), wakeups.size());
  EXPECT_TRUE(std::is_sorted(ended.begin(), ended.end()));
}

TEST(Wakeup, LeavesNoWorkOfALongWaitThatWasEnded) {
  boost::asio::io_context io(1);
  Wakeup wakeup(io.get_executor());
  net::spawn(io.get_executor(), woken_by(wakeup.wait(1h)));
  io.poll();
  wakeup.notify();
  EXPECT_GT(io.run_for(20s), 0U);
  EXPECT_TRUE(io.stopped()) << "no work is left";
}

net::Task<void> note_how(Wakeup& wakeup, std::optional<Woken>& woken) {
  woken = co_await wakeup.wait(1h);
}

TEST(Wakeup, SleepsThroughALongWait) {
  boost::asio::io_context io(1);
  Wakeup wakeup(io.get_executor());
  net::spawn(io.get_executor(), woken_by(wakeup.wait(1h)));
  io.poll();
  EXPECT_EQ(io.run_for(200ms), 0U);
}

TEST(Wakeup, MayResumeWithinTheNotification) {
  boost::asio::io_context io(1);
  Wakeup wakeup(io.get_executor());
  std::optional<Woken> woken;
  net::spawn(io.get_executor(), note_how(wakeup, woken));
  io.poll();
  EXPECT_FALSE(woken);
  wakeup.notify_within();
  EXPECT_EQ(woken, Woken::notified);
  wakeup.notify_within();
  EXPECT_EQ(run(io, woken_by(wakeup.wait())), Woken::notified)
      << "one that comes first is kept, too";
}

TEST(Wakeup, KeepsANotificationThatComesBetweenTheCallAndTheWait) {
  boost::asio::io_context io(1);
  Wakeup wakeup(io.get_executor());
  auto wait = wakeup.wait();
  wakeup.notify_within();
  EXPECT_EQ(run(io, woken_by(wait)), Woken::notified);
  EXPECT_EQ(run(io, woken_by(wakeup.wait(1ms))), Woken::timed_out) << "it counts once";
}

TEST(Wakeup, IsWokenByAnotherThread) {
  boost::asio::io_context io(1);
  Wakeup wakeup(io.get_executor());
  const std::jthread other([&] { wakeup.notify(); });
  EXPECT_EQ(run(io, woken_by(wakeup.wait())), Woken::notified);
}

net::Task<void> wait_beside(net::Executor executor, std::shared_ptr<int> held) {
  Wakeup wakeup(executor);
  co_await wakeup.wait();
  ++*held;
}

TEST(Wakeup, ACoroutineThatWaitsEndsWithItsIoContext) {
  const auto held = std::make_shared<int>(0);
  {
    boost::asio::io_context io(1);
    Wakeup::prepare(io);
    net::spawn(io.get_executor(), wait_beside(io.get_executor(), held));
    io.poll();
    EXPECT_GT(held.use_count(), 1);
  }
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_EQ(*held, 0);
}

TEST(Wakeup, ANotificationMayBeUnderWayWhenItGoes) {
  boost::asio::io_context io(1);
  {
    Wakeup wakeup(io.get_executor());
    wakeup.notify();
  }
  EXPECT_EQ(io.poll(), 1U);
}

}  // namespace
}  // namespace proxy::net
