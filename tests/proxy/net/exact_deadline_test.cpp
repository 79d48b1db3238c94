#include "proxy/net/deadlines.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "tests/support/patience.hpp"

namespace proxy::net {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct Scene {
  asio::io_context io{1};
  int calls = 0;
  std::optional<ExactDeadline> deadline{std::in_place, io.get_executor(), [this] { ++calls; }};
};

TEST(ExactDeadline, IsCalledOnceAndNotEarly) {
  Scene scene;
  const auto begun = Clock::now();
  scene.deadline->expires_after(20ms);
  EXPECT_FALSE(scene.deadline->expired());
  scene.io.run();
  EXPECT_GE(Clock::now() - begun, 20ms);
  EXPECT_LT(Clock::now() - begun, support::allowed(60ms)) << "within a tick of the coarse ones";
  EXPECT_EQ(scene.calls, 1);
  EXPECT_TRUE(scene.deadline->expired());
}

TEST(ExactDeadline, IsReplacedByALaterOne) {
  Scene scene;
  scene.deadline->expires_after(1ms);
  scene.deadline->expires_after(30ms);
  scene.io.run_for(10ms);
  EXPECT_EQ(scene.calls, 0);
  scene.io.run();
  EXPECT_EQ(scene.calls, 1);
}

TEST(ExactDeadline, NeverComesOnceItIsNoLongerWanted) {
  Scene scene;
  scene.deadline->expires_after(1ms);
  scene.deadline->expires_never();
  scene.io.run_for(20ms);
  scene.deadline->expires_after(0ms);
  scene.deadline.reset();  // its call is due
  scene.io.run_for(20ms);
  EXPECT_EQ(scene.calls, 0);
}

}  // namespace
}  // namespace proxy::net
