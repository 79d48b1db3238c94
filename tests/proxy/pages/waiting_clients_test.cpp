#include "proxy/pages/waiting_clients.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "tests/support/run.hpp"

namespace proxy::pages {
namespace {

using namespace std::chrono_literals;
using Rank = WaitingClients::Rank;
using News = WaitingClients::News;

// 10.0.0.`number`.
config::Address address_of(std::size_t number) {
  return config::address_from_v4({10, 0, 0, static_cast<std::uint8_t>(number)});
}

News news(const char* text) {
  return std::make_shared<const std::string>(text);
}

// Clients, and one of them.
struct Watching {
  explicit Watching(const WaitingClients::Limits& limits = WaitingClients::kWatchers)
      : clients(limits) {}

  News next(std::chrono::milliseconds at_most = 1h) {
    return support::run(io, client.next(at_most), 5s);
  }

  boost::asio::io_context io{1};
  WaitingClients clients;
  WaitingClients::Waiting client{clients, address_of(1), Rank::other, io.get_executor()};
};

// A deque of those that have come in.
struct Crowded {
  explicit Crowded(const WaitingClients::Limits& limits) : clients(limits) {}

  // Whether there was room for one more, which stays.
  bool stays(std::size_t from, Rank rank = Rank::other) {
    return in.emplace_back(clients, address_of(from), rank, io.get_executor()).has_place();
  }
  bool has_room(std::size_t from, Rank rank = Rank::other) {
    return WaitingClients::Waiting(clients, address_of(from), rank, io.get_executor()).has_place();
  }

  boost::asio::io_context io{1};
  WaitingClients clients;
  std::deque<WaitingClients::Waiting> in;
};

TEST(WaitingClients, GetTheNewsAlsoIfToldBeforeTheyWait) {
  Watching scene;
  scene.clients.tell(news("of admins"), news("a"));
  EXPECT_EQ(*scene.next(), "a");
}

TEST(WaitingClients, ThatAreSlowGetOnlyTheNewest) {
  Watching scene;
  scene.clients.tell(news("of admins"), news("a"));
  scene.clients.tell(news("of admins"), news("b"));
  EXPECT_EQ(*scene.next(), "b");
}

TEST(WaitingClients, ThatAreAdminsGetNewsOfTheirOwn) {
  Watching scene;
  EXPECT_FALSE(scene.clients.any_admin());
  WaitingClients::Waiting admin(scene.clients, address_of(1), Rank::admin, scene.io.get_executor());
  EXPECT_TRUE(scene.clients.any_admin());
  scene.clients.tell(news("of admins"), news("a"));
  EXPECT_EQ(*support::run(scene.io, admin.next(1h), 5s), "of admins");
  EXPECT_EQ(*scene.next(), "a");
}

TEST(WaitingClients, AreWokenWithoutNewsAlsoBeforeTheyWait) {
  for (const auto& limits : {WaitingClients::kPolls, WaitingClients::kWatchers}) {
    Watching scene(limits);
    ASSERT_TRUE(scene.client.has_place());
    scene.clients.wake_all();
    EXPECT_EQ(scene.next(), nullptr);
  }
}

TEST(WaitingClients, WaitNoLongerThanTheyAreTold) {
  Watching scene;
  EXPECT_EQ(scene.next(1ms), nullptr);
}

TEST(HeldPolls, OfOneAddressLeaveRoomForOthers) {
  Crowded polls(WaitingClients::kPolls);
  for (std::size_t i = 0; i < WaitingClients::kPolls.of_one_address; ++i) {
    EXPECT_TRUE(polls.stays(1));
  }
  EXPECT_FALSE(polls.has_room(1));
  EXPECT_TRUE(polls.has_room(2));
  polls.in.pop_front();
  EXPECT_TRUE(polls.has_room(1));
}

TEST(HeldPolls, AreBoundedInAll) {
  Crowded polls(WaitingClients::kPolls);
  for (std::size_t i = 0; i < WaitingClients::kPolls.all; ++i) polls.stays(i % 250);
  EXPECT_EQ(polls.clients.count(), 1024U);
  EXPECT_FALSE(polls.has_room(251));
  polls.in.clear();
  EXPECT_EQ(polls.clients.count(), 0U);
}

TEST(Watchers, AreBoundedInNumberAndKeepAPlaceForTheAdmin) {
  Crowded watchers(WaitingClients::kWatchers);
  for (std::size_t i = 0; i < WaitingClients::kWatchers.others; ++i) {
    EXPECT_TRUE(watchers.stays(i));
  }
  EXPECT_FALSE(watchers.has_room(100));
  EXPECT_TRUE(watchers.stays(101, Rank::admin));
  EXPECT_FALSE(watchers.has_room(102, Rank::admin));
  EXPECT_EQ(watchers.clients.count(), 16U);
  watchers.in.pop_front();
  EXPECT_TRUE(watchers.has_room(100));
}

TEST(Watchers, OfOneAddressAreTwoAtMostUnlessTheyAreAdmins) {
  Crowded watchers(WaitingClients::kWatchers);
  EXPECT_TRUE(watchers.stays(1));
  EXPECT_TRUE(watchers.stays(1));
  EXPECT_FALSE(watchers.has_room(1));
  EXPECT_TRUE(watchers.has_room(2));
  EXPECT_TRUE(watchers.stays(1, Rank::admin));
  EXPECT_TRUE(watchers.stays(1, Rank::admin));
  EXPECT_TRUE(watchers.has_room(1, Rank::admin));
}

}  // namespace
}  // namespace proxy::pages
