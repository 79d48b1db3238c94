#include "proxy/net/wakeup.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <thread>

#include "tests/support/run.hpp"

namespace proxy {
namespace {

using namespace std::chrono_literals;
using support::run;
using Woken = Wakeup::Woken;

TEST(Wakeup, KeepsANotificationThatComesFirst) {
  boost::asio::io_context io(1);
  Wakeup wakeup(io.get_executor());
  wakeup.notify();
  EXPECT_EQ(run(io, wakeup.wait()), Woken::notified);
}

TEST(Wakeup, SeveralNotificationsBeforeOneWaitCountOnce) {
  boost::asio::io_context io(1);
  Wakeup wakeup(io.get_executor());
  for (const int times : {1, 2}) {
    for (int i = 0; i < times; ++i) wakeup.notify();
    io.restart();
    io.poll();
  }
  EXPECT_EQ(run(io, wakeup.wait(1h)), Woken::notified);
  EXPECT_EQ(run(io, wakeup.wait(1ms)), Woken::timed_out);
}

TEST(Wakeup, WaitsNoLongerThanItIsTold) {
  boost::asio::io_context io(1);
  Wakeup wakeup(io.get_executor());
  EXPECT_EQ(run(io, wakeup.wait(1ms)), Woken::timed_out);
  wakeup.notify();
  EXPECT_EQ(run(io, wakeup.wait(1h)), Woken::notified) << "after a time-out as before";
}

TEST(Wakeup, EndsAWaitThatHasBegunWithAndWithoutAnEnd) {
  boost::asio::io_context io(1);
  Wakeup wakeup(io.get_executor());
  using AtMost = std::optional<std::chrono::milliseconds>;
  for (const auto& at_most : {AtMost(), AtMost(1h), AtMost(), AtMost(1h)}) {
    std::optional<Woken> woken;
    net::spawn(io.get_executor(), wakeup.wait(at_most),
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

TEST(Wakeup, IsWokenByAnotherThread) {
  boost::asio::io_context io(1);
  Wakeup wakeup(io.get_executor());
  const std::jthread other([&] { wakeup.notify(); });
  EXPECT_EQ(run(io, wakeup.wait()), Woken::notified);
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
}  // namespace proxy
