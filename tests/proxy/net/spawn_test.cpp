#include "proxy/net/spawn.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "proxy/net/asio.hpp"
#include "tests/support/run.hpp"

namespace proxy::net {
namespace {

Task<void> set(bool& begun) {
  begun = true;
  co_return;
}

TEST(Spawn, BeginsAtOnceOnItsThreadAndElseInRun) {
  asio::io_context io(1);
  bool begun = false;
  bool begun_within = false;
  spawn(io.get_executor(), set(begun));
  EXPECT_FALSE(begun);
  asio::post(io, [&] {
    spawn(io.get_executor(), set(begun_within));
    EXPECT_TRUE(begun_within);
  });
  io.run();
  EXPECT_TRUE(begun && begun_within);
}

TEST(Spawn, TellsTheEndOnceTheTaskIsGone) {
  asio::io_context io(1);
  const auto held = std::make_shared<int>();
  const auto hold = [](std::shared_ptr<int> own) -> Task<int> {
    co_await asio::post(co_await ThisExecutor(), use_task);
    co_return static_cast<int>(own.use_count());
  };
  int told = 0;
  spawn(io.get_executor(), hold(held), [&](const std::exception_ptr& thrown, int result) {
    EXPECT_FALSE(thrown);
    EXPECT_EQ(held.use_count(), 1);
    told = result;
  });
  io.run();
  EXPECT_EQ(told, 2);
}

TEST(Spawn, TellsOfABug) {
  asio::io_context io(1);
  const auto fail = []() -> Task<void> {
    throw std::runtime_error("a bug");
    co_return;
  };
  std::exception_ptr told;
  spawn(io.get_executor(), fail(), [&](const std::exception_ptr& thrown) { told = thrown; });
  io.run();
  EXPECT_THROW(std::rethrow_exception(told), std::runtime_error);
}

// Each of them keeps run() from returning while it waits.
TEST(Spawn, LeavesATaskThatWaitsToTheEndOfItsContext) {
  const auto held = std::make_shared<int>();
  bool ended = false;
  {
    asio::io_context io(1);
    Timer never(io.get_executor(), std::chrono::hours(1));
    const auto wait = [](Timer& timer, std::shared_ptr<int> /*held*/) -> Task<void> {
      co_await timer.async_wait(as_result);
    };
    const auto await_that = [&](std::shared_ptr<int> other) -> Task<void> {
      co_await wait(never, std::move(other));
    };
    spawn(io.get_executor(), await_that(held), [&](const auto&) { ended = true; });
    io.run_for(std::chrono::milliseconds(1));
    EXPECT_FALSE(io.stopped());
    EXPECT_GT(held.use_count(), 1);
  }
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_FALSE(ended);
}

class TwoThreads : public ::testing::Test {
 protected:
  ~TwoThreads() override {
    work_.reset();
    thread_.join();
  }

  asio::io_context io_{1};
  asio::io_context other_{1};

 private:
  asio::executor_work_guard<Executor> work_{other_.get_executor()};
  std::thread thread_{[this] { other_.run(); }};
};

TEST_F(TwoThreads, RunOnRunsThereAndReturnsHere) {
  const auto here = std::this_thread::get_id();
  const auto which = []() -> Task<std::thread::id> { co_return std::this_thread::get_id(); };
  const auto ask = [&]() -> Task<int> {
    const auto there = co_await run_on(other_.get_executor(), which());
    EXPECT_NE(there, here);
    EXPECT_EQ(std::this_thread::get_id(), here);
    co_return 0;
  };
  support::run(io_, ask());
}

TEST_F(TwoThreads, RunOnPassesOnBugs) {
  const auto fail = []() -> Task<int> {
    throw std::runtime_error("a bug");
    co_return 0;
  };
  EXPECT_THROW(support::run(io_, run_on(other_.get_executor(), fail())), std::runtime_error);
}

}  // namespace
}  // namespace proxy::net
