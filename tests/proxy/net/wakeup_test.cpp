#include "proxy/net/wakeup.hpp"

#include <gtest/gtest.h>

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
  wakeup.notify();
  io.poll();
  wakeup.notify();
  wakeup.notify();
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
