#include "proxy/pages/watchers.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>

#include "tests/support/run.hpp"

namespace proxy {
namespace {

using namespace std::chrono_literals;

// 10.0.0.`number`.
config::Address address(std::size_t number) {
  return {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, static_cast<std::uint8_t>(number)};
}

struct Watching {
  boost::asio::io_context io{1};
  Watchers watchers;
  Watchers::Watcher watcher{watchers, address(1), false, io.get_executor()};

  Watchers::News next() { return support::run(io, watcher.next(1h), 5s); }
};

Watchers::News news(const char* text) {
  return std::make_shared<const std::string>(text);
}

TEST(Watchers, GetTheNewsAlsoIfToldBeforeTheyWait) {
  Watching scene;
  scene.watchers.tell(news("of admins"), news("a"));
  EXPECT_EQ(*scene.next(), "a");
}

TEST(Watchers, ThatAreSlowGetOnlyTheNewest) {
  Watching scene;
  scene.watchers.tell(news("of admins"), news("a"));
  scene.watchers.tell(news("of admins"), news("b"));
  EXPECT_EQ(*scene.next(), "b");
}

TEST(Watchers, ThatAreAdminsGetNewsOfTheirOwn) {
  Watching scene;
  EXPECT_FALSE(scene.watchers.any_admin());
  Watchers::Watcher admin(scene.watchers, address(1), true, scene.io.get_executor());
  EXPECT_TRUE(scene.watchers.any_admin());
  scene.watchers.tell(news("of admins"), news("a"));
  EXPECT_EQ(*support::run(scene.io, admin.next(1h), 5s), "of admins");
  EXPECT_EQ(*scene.next(), "a");
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

TEST(Watchers, AreBoundedInNumberAndKeepAPlaceForTheAdmin) {
  boost::asio::io_context io(1);
  Watchers watchers;
  const auto begin = [&](std::size_t from, bool is_admin) {
    return std::make_unique<Watchers::Watcher>(watchers, address(from), is_admin,
                                               io.get_executor());
  };
  std::deque<std::unique_ptr<Watchers::Watcher>> watching;
  for (std::size_t i = 0; i < Watchers::kMostOfOthers; ++i) {
    EXPECT_TRUE(watching.emplace_back(begin(i, false))->has_place());
  }
  EXPECT_FALSE(begin(100, false)->has_place());
  watching.push_back(begin(101, true));
  EXPECT_TRUE(watching.back()->has_place());
  EXPECT_FALSE(begin(102, true)->has_place());
  EXPECT_EQ(watchers.count(), Watchers::kMost);
  watching.pop_front();
  EXPECT_TRUE(begin(100, false)->has_place());
}

TEST(Watchers, OfOneAddressAreTwoAtMostUnlessTheyAreAdmins) {
  boost::asio::io_context io(1);
  Watchers watchers;
  const auto has_place = [&](std::size_t from, bool is_admin) {
    return Watchers::Watcher(watchers, address(from), is_admin, io.get_executor()).has_place();
  };
  const Watchers::Watcher first(watchers, address(1), false, io.get_executor());
  const Watchers::Watcher second(watchers, address(1), false, io.get_executor());
  EXPECT_TRUE(second.has_place());
  EXPECT_FALSE(has_place(1, false));
  EXPECT_TRUE(has_place(2, false));
  const Watchers::Watcher third(watchers, address(1), true, io.get_executor());
  const Watchers::Watcher fourth(watchers, address(1), true, io.get_executor());
  EXPECT_TRUE(has_place(1, true));
}

}  // namespace
}  // namespace proxy
