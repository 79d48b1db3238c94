#include "proxy/worker/watchers.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "tests/support/run.hpp"

namespace proxy {
namespace {

using namespace std::chrono_literals;

struct Watching {
  boost::asio::io_context io{1};
  Watchers watchers;
  Watchers::Watcher watcher{watchers, io.get_executor()};

  Watchers::News next() { return support::run(io, watcher.next(1h), 5s); }
};

Watchers::News news(const char* text) {
  return std::make_shared<const std::string>(text);
}

TEST(Watchers, GetTheNewsAlsoIfToldBeforeTheyWait) {
  Watching scene;
  scene.watchers.tell(news("a"));
  EXPECT_EQ(*scene.next(), "a");
}

TEST(Watchers, ThatAreSlowGetOnlyTheNewest) {
  Watching scene;
  scene.watchers.tell(news("a"));
  scene.watchers.tell(news("b"));
  EXPECT_EQ(*scene.next(), "b");
}

TEST(Watchers, AreWokenWithoutNewsAtTheEnd) {
  Watching scene;
  scene.watchers.wake_all();
  EXPECT_EQ(scene.next(), nullptr);
}

TEST(Watchers, WaitNoLongerThanTheyAreTold) {
  Watching scene;
  EXPECT_EQ(support::run(scene.io, scene.watcher.next(1ms), 5s), nullptr);
}

TEST(Watchers, AreBoundedInNumber) {
  boost::asio::io_context io(1);
  Watchers watchers;
  std::deque<Watchers::Watcher> watching;
  for (std::size_t i = 0; i < Watchers::kMost; ++i) {
    EXPECT_TRUE(watching.emplace_back(watchers, io.get_executor()).has_place());
  }
  EXPECT_FALSE(Watchers::Watcher(watchers, io.get_executor()).has_place());
  EXPECT_EQ(watchers.count(), Watchers::kMost);
  watching.pop_front();
  EXPECT_TRUE(Watchers::Watcher(watchers, io.get_executor()).has_place());
}

}  // namespace
}  // namespace proxy
