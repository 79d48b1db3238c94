#include "proxy/net/task.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/support/run.hpp"

namespace proxy::net {
namespace {

Task<int> doubled(int n) {
  co_return 2 * n;
}

Soon<int> twice(int n, bool at_once) {
  if (at_once) return 2 * n;
  return doubled(n);
}

Task<void> increase(int& to) {
  ++to;
  co_return;
}

Soon<void> add_one(int& to, bool at_once) {
  if (!at_once) return increase(to);
  ++to;
  return {};
}

TEST(Soon, IsAwaitedAsATaskWhetherTheValueIsHereOrNot) {
  EXPECT_TRUE(twice(1, true).is_here());
  EXPECT_FALSE(twice(1, false).is_here());
  const auto both = [](bool at_once) -> Task<int> {
    int sum = co_await twice(10, at_once);
    co_await add_one(sum, at_once);
    auto kept = twice(100, at_once);
    co_return sum + co_await kept;
  };
  for (const bool at_once : {true, false}) EXPECT_EQ(support::run(both(at_once)), 221);
}

TEST(Soon, PassesOnBugs) {
  const auto fail = []() -> Task<void> {
    throw std::runtime_error("a bug");
    co_return;
  };
  const auto await_it = [&]() -> Task<int> {
    co_await Soon<void>(fail());
    co_return 0;
  };
  EXPECT_THROW(support::run(await_it()), std::runtime_error);
}

}  // namespace
}  // namespace proxy::net
