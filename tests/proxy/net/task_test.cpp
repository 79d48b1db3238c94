#include "proxy/net/task.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "proxy/net/asio.hpp"
#include "tests/support/run.hpp"

namespace proxy::net {
namespace {

Task<int> sum_to(int n) {
  if (n == 0) co_return 0;
  const int rest = co_await sum_to(n - 1);
  co_return n + rest;
}

Task<void> fail_after(int waits) {
  const auto executor = co_await ThisExecutor();
  for (int i = 0; i < waits; ++i) co_await asio::post(executor, use_task);
  throw std::runtime_error("a bug");
}

TEST(Task, PassesOnWhatTheTasksThatItAwaitsReturn) {
  EXPECT_EQ(support::run(sum_to(100)), 5050);
}

TEST(Task, PassesOnBugsWhetherOrNotItHasWaited) {
  const auto catches = [](int waits) -> Task<std::string> {
    try {
      co_await fail_after(waits);
    } catch (const std::runtime_error& bug) {
      co_return bug.what();
    }
    co_return "";
  };
  for (const int waits : {0, 1, 3}) EXPECT_EQ(support::run(catches(waits)), "a bug") << waits;
}

// Each of a million tasks would take its part of the stack.
TEST(Task, NeedsNoStackForTasksThatHaveEnded) {
  const auto awaits_many = [](bool waits_first) -> Task<int> {
    int sum = 0;
    if (waits_first) co_await asio::post(co_await ThisExecutor(), use_task);
    for (int i = 0; i < 1'000'000; ++i) sum += co_await sum_to(1);
    co_return sum;
  };
  for (const bool waits_first : {false, true}) {
    EXPECT_EQ(support::run(awaits_many(waits_first)), 1'000'000);
  }
}

TEST(Task, BeginsWhenItIsAwaited) {
  std::vector<std::string> order;
  const auto note = [&order](std::string what) -> Task<void> {
    order.push_back(std::move(what));
    co_return;
  };
  const auto all = [&]() -> Task<int> {
    auto late = note("late");
    co_await note("early");
    co_await late;
    co_return 0;
  };
  support::run(all());
  EXPECT_EQ(order, (std::vector<std::string>{"early", "late"}));
}

TEST(Task, MayHoldWhatOnlyMoves) {
  const auto make = []() -> Task<std::unique_ptr<int>> { co_return std::make_unique<int>(7); };
  EXPECT_EQ(*support::run(make()), 7);
}

TEST(Task, IsDestroyedWithWhatItHoldsThoughItNeverBegan) {
  const auto held = std::make_shared<int>();
  const auto hold = [](std::shared_ptr<int> /*held*/) -> Task<void> { co_return; };
  { const auto never = hold(held); }
  EXPECT_EQ(held.use_count(), 1);
}

}  // namespace
}  // namespace proxy::net
