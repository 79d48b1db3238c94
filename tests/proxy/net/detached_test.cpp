#include "proxy/net/detached.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <stdexcept>

#include "proxy/net/wakeup.hpp"

namespace proxy::net {
namespace {

Task<void> count_around(Wakeup& wakeup, std::shared_ptr<int> steps) {
  ++*steps;
  co_await wakeup.wait();
  ++*steps;
}

Task<void> throw_after(Wakeup& wakeup) {
  co_await wakeup.wait();
  throw std::runtime_error("lost");
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

TEST(Detached, KeepsItsIoContextAtWork) {
  asio::io_context io(1);
  Wakeup wakeup(io.get_executor());
  const auto steps = std::make_shared<int>(0);
  run_detached(io.get_executor(), count_around(wakeup, steps));
  io.poll();
  EXPECT_FALSE(io.stopped());
  wakeup.notify_within();
  io.poll();
  EXPECT_TRUE(io.stopped());
}

TEST(Detached, LosesWhatItThrows) {
  asio::io_context io(1);
  Wakeup wakeup(io.get_executor());
  run_detached(io.get_executor(), throw_after(wakeup));
  EXPECT_NO_THROW(wakeup.notify_within());
  EXPECT_NO_THROW(io.run());
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
