#include "proxy/crowd/whom_to_end.hpp"

#include <gtest/gtest.h>

namespace proxy::crowd {
namespace {

using namespace std::chrono_literals;
using Indices = std::vector<std::size_t>;
using Shortage = Newcomer::Shortage;

config::Address client(std::uint8_t number) {
  return config::address_from_v4({10, 0, 0, number});
}

WaitingConnection idle(std::uint8_t number, std::size_t connections, std::chrono::seconds since) {
  return {client(number), connections, true, WaitingConnection::Time(since)};
}

WaitingConnection in_head(WaitingConnection waiting) {
  waiting.idle = false;
  return waiting;
}

Newcomer from(std::uint8_t number, std::size_t connections, Shortage shortage = Shortage::others) {
  return {client(number), connections, shortage};
}

TEST(WhomToClose, TheOldestIdleConnectionOfTheClientThatHasMost) {
  const std::vector<WaitingConnection> waiting{idle(1, 3, 1s), idle(2, 9, 5s), idle(2, 9, 4s),
                                               idle(2, 9, 6s), idle(3, 8, 1s)};
  EXPECT_EQ(whom_to_close(waiting, from(4, 0)), Indices{2});
}

TEST(WhomToClose, IdleConnectionsBeforeThoseWithAPartOfAHead) {
  const std::vector<WaitingConnection> waiting{in_head(idle(1, 2, 1s)), idle(1, 2, 9s)};
  EXPECT_EQ(whom_to_close(waiting, from(2, 0)), Indices{1});
  const std::vector<WaitingConnection> heads{in_head(idle(1, 2, 5s)), in_head(idle(1, 2, 4s))};
  EXPECT_EQ(whom_to_close(heads, from(2, 0)), Indices{1});
}

TEST(WhomToClose, NoConnectionOfAClientThatHasNoMore) {
  const std::vector<WaitingConnection> waiting{idle(1, 3, 1s), idle(2, 2, 1s)};
  EXPECT_EQ(whom_to_close(waiting, from(3, 3)), Indices{});
  EXPECT_EQ(whom_to_close(waiting, from(2, 2)), Indices{0});
  EXPECT_EQ(whom_to_close(waiting, from(1, 2)), Indices{}) << "nor one of its own";
}

TEST(WhomToClose, OnlyItsOwnForAClientThatHasItsPart) {
  const std::vector<WaitingConnection> waiting{idle(1, 9, 1s), idle(2, 2, 1s)};
  EXPECT_EQ(whom_to_close(waiting, from(2, 2, Shortage::own)), Indices{1});
  EXPECT_EQ(whom_to_close(waiting, from(3, 2, Shortage::own)), Indices{});
}

TEST(WhomToClose, OnlyItsNetworksForAClientWhoseNetworkHasItsPart) {
  std::vector<WaitingConnection> waiting{idle(1, 9, 9s), idle(2, 1, 1s), idle(3, 1, 1s)};
  waiting[1].client = config::parse_address("2001:db8:0:1::").value();
  waiting[2].client = config::parse_address("2001:db8:1:1::").value();
  auto newcomer = from(4, 1, Shortage::network);
  newcomer.client = config::parse_address("2001:db8:0:2::").value();
  EXPECT_EQ(whom_to_close(waiting, newcomer), Indices{1});
}

TEST(WhomToClose, NoConnectionOfAClientThatIsSpared) {
  const std::vector<WaitingConnection> waiting{idle(1, 9, 9s), idle(2, 10, 1s)};
  auto newcomer = from(3, 0);
  newcomer.spared_below = 10;
  EXPECT_EQ(whom_to_close(waiting, newcomer), Indices{1});
  newcomer.spared_below = 11;
  EXPECT_EQ(whom_to_close(waiting, newcomer), Indices{});
  auto own = from(1, 9, Shortage::own);
  own.spared_below = 11;
  EXPECT_EQ(whom_to_close(waiting, own), Indices{0}) << "its own are in question alone";
}

TEST(WhomToClose, ManyAtOnceOfACrowd) {
  std::vector<WaitingConnection> waiting;
  for (int i = 0; i < 640; ++i) waiting.push_back(idle(1, 640, std::chrono::seconds(1000 - i)));
  const auto closed = whom_to_close(waiting, from(2, 0));
  ASSERT_EQ(closed.size(), 11U);
  EXPECT_EQ(closed.front(), 639U);
}

}  // namespace
}  // namespace proxy::crowd
