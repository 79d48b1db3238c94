#include "proxy/net/detached.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>

#include "proxy/net/wakeup.hpp"

namespace proxy::net {
namespace {

Detached count_around(Wakeup& wakeup, std::shared_ptr<int> steps) {
  ++*steps;
  co_await wakeup.wait();
  ++*steps;
}

TEST(Detached, RunsAtOnceUntilItFirstWaitsAndThenToItsEnd) {
  asio::io_context io(1);
  Wakeup wakeup(io.get_executor());
  const auto steps = std::make_shared<int>(0);
  run_detached(io.get_executor(), count_around(wakeup, steps));
  EXPECT_EQ(*steps, 1);
  wakeup.notify();
  io.run();
  EXPECT_EQ(*steps, 2);
  EXPECT_EQ(steps.use_count(), 1) << "its frame is gone";
}

TEST(Detached, EndsWithinItsStartIfItNeverWaits) {
  asio::io_context io(1);
  Wakeup wakeup(io.get_executor());
  wakeup.notify_within();
  const auto steps = std::make_shared<int>(0);
  run_detached(io.get_executor(), count_around(wakeup, steps));
  EXPECT_EQ(*steps, 2);
  EXPECT_EQ(steps.use_count(), 1);
}

TEST(Detached, EndsWithItsIoContext) {
  const auto steps = std::make_shared<int>(0);
  {
    asio::io_context io(1);
    Wakeup wakeup(io.get_executor());
    run_detached(io.get_executor(), count_around(wakeup, steps));
    EXPECT_GT(steps.use_count(), 1);
  }
  EXPECT_EQ(steps.use_count(), 1);
  EXPECT_EQ(*steps, 1);
}

}  // namespace
}  // namespace proxy::net
