#include "proxy/net/spawn.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <tuple>

#include "proxy/net/asio.hpp"
#include "tests/support/run.hpp"

namespace proxy::net {
namespace {

Task<void> wait_till(std::optional<Resume<int>>& kept, int& result, std::shared_ptr<int> /*held*/) {
  auto keep = [&kept](Resume<int> resume) { kept.emplace(std::move(resume)); };
  result = co_await wait_for<int>(keep);
}

class Waiting : public ::testing::Test {
 protected:
  Waiting() {
    spawn(io_.get_executor(), wait_till(kept_, result_, held_));
    io_.poll();
  }

  asio::io_context io_{1};
  std::optional<Resume<int>> kept_;
  int result_ = 0;
  const std::shared_ptr<int> held_ = std::make_shared<int>();
};

TEST_F(Waiting, GoesOnWithTheResultOfTheWait) {
  ASSERT_TRUE(kept_);
  EXPECT_EQ(kept_->get_executor(), io_.get_executor());
  auto resume = std::move(*kept_);
  kept_.reset();
  resume(7);
  EXPECT_EQ(result_, 7);
  EXPECT_EQ(held_.use_count(), 1);
}

TEST_F(Waiting, IsDestroyedIfNobodyResumesIt) {
  EXPECT_EQ(held_.use_count(), 2);
  kept_.reset();
  EXPECT_EQ(held_.use_count(), 1);
  EXPECT_EQ(result_, 0);
}

TEST(UseTask, ReturnsTheResultsOfAsiosOperations) {
  const auto wait = []() -> Task<int> {
    Timer timer(co_await ThisExecutor(), std::chrono::hours(1));
    asio::post(co_await ThisExecutor(), [&] { timer.cancel(); });
    const auto [error] = co_await timer.async_wait(as_result);
    EXPECT_EQ(error, asio::error::operation_aborted);
    timer.expires_after(std::chrono::milliseconds(0));
    co_await timer.async_wait(use_task);
    co_return 1;
  };
  EXPECT_EQ(support::run(wait()), 1);
}

TEST(UseTask, ThrowsAnErrorThatIsNotAskedFor) {
  const auto wait = []() -> Task<int> {
    Timer timer(co_await ThisExecutor(), std::chrono::hours(1));
    asio::post(co_await ThisExecutor(), [&] { timer.cancel(); });
    co_await timer.async_wait(use_task);
    co_return 1;
  };
  EXPECT_THROW(support::run(wait()), boost::system::system_error);
}

}  // namespace
}  // namespace proxy::net
