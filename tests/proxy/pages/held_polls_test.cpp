#include "proxy/pages/held_polls.hpp"

#include <gtest/gtest.h>

#include <deque>

#include "tests/support/run.hpp"

namespace proxy {
namespace {

using namespace std::chrono_literals;

config::Address address(std::uint8_t last) {
  return config::address_from_v4({10, 0, 0, last});
}

TEST(HeldPolls, AreWokenByANewGenerationAlsoBeforeTheyWait) {
  boost::asio::io_context io(1);
  HeldPolls polls;
  HeldPolls::Held poll(polls, address(1), io.get_executor());
  ASSERT_TRUE(poll.has_place());
  polls.wake_all();
  support::run(io, poll.wait(1h), 5s);
}

TEST(HeldPolls, WaitNoLongerThanTheyAreTold) {
  boost::asio::io_context io(1);
  HeldPolls polls;
  HeldPolls::Held poll(polls, address(1), io.get_executor());
  support::run(io, poll.wait(1ms), 5s);
}

TEST(HeldPolls, OfOneAddressLeaveRoomForOthers) {
  boost::asio::io_context io(1);
  HeldPolls polls;
  std::deque<HeldPolls::Held> held;
  for (std::size_t i = 0; i < HeldPolls::kMostOfOneAddress; ++i) {
    EXPECT_TRUE(held.emplace_back(polls, address(1), io.get_executor()).has_place());
  }
  EXPECT_FALSE(HeldPolls::Held(polls, address(1), io.get_executor()).has_place());
  EXPECT_TRUE(HeldPolls::Held(polls, address(2), io.get_executor()).has_place());
  held.pop_front();
  EXPECT_TRUE(HeldPolls::Held(polls, address(1), io.get_executor()).has_place());
}

TEST(HeldPolls, AreBoundedInAll) {
  boost::asio::io_context io(1);
  HeldPolls polls;
  std::deque<HeldPolls::Held> held;
  for (std::size_t i = 0; i < HeldPolls::kMost; ++i) {
    held.emplace_back(polls, address(static_cast<std::uint8_t>(i % 250)), io.get_executor());
  }
  EXPECT_EQ(polls.count(), HeldPolls::kMost);
  EXPECT_FALSE(HeldPolls::Held(polls, address(251), io.get_executor()).has_place());
  held.clear();
  EXPECT_EQ(polls.count(), 0U);
}

}  // namespace
}  // namespace proxy
