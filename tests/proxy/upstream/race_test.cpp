#include "proxy/upstream/connect.hpp"

#include <gtest/gtest.h>

#include "proxy/upstream/failure.hpp"
#include "tests/proxy/upstream/full_listener.hpp"
#include "tests/support/loopback.hpp"
#include "tests/support/patience.hpp"

namespace proxy::upstream {
namespace {

using namespace std::chrono_literals;
using support::listen_on;
using support::run;
using Clock = std::chrono::steady_clock;

Addresses list(std::initializer_list<const char*> texts) {
  Addresses addresses;
  for (const char* text : texts) addresses.push_back(boost::asio::ip::make_address(text));
  return addresses;
}

TEST(AttemptOrder, LetsTheFamiliesTakeTurnsIpv6First) {  // RFC 8305 section 4
  EXPECT_EQ(attempt_order(list({"192.0.2.1", "192.0.2.2", "192.0.2.3", "2001:db8::1"})),
            list({"2001:db8::1", "192.0.2.1", "192.0.2.2", "192.0.2.3"}));
  EXPECT_EQ(attempt_order(list({"2001:db8::1", "2001:db8::2", "192.0.2.1"})),
            list({"2001:db8::1", "192.0.2.1", "2001:db8::2"}));
  EXPECT_EQ(attempt_order({}), Addresses{});
}

TEST(AttemptOrder, IsBounded) {
  Addresses many(1000, boost::asio::ip::make_address("2001:db8::1"));
  many.push_back(boost::asio::ip::make_address("192.0.2.1"));
  const auto order = attempt_order(many);
  ASSERT_EQ(order.size(), kMaxAttempts);
  EXPECT_TRUE(order[1].is_v4());
}

struct RaceTest : testing::Test {
  net::Result<net::Socket> race_to(std::vector<net::tcp::endpoint> endpoints,
                                   std::chrono::milliseconds head_start,
                                   std::chrono::milliseconds timeout = 10s) {
    const auto began = Clock::now();
    auto socket = run(io, race(std::move(endpoints), {head_start}, clock, began + timeout));
    took = Clock::now() - began;
    return socket;
  }
  // Nobody listens at this endpoint any more.
  net::tcp::endpoint refusing() { return listen_on(io, "127.0.0.1").local_endpoint(); }

  machine::Clock clock;
  boost::asio::io_context io{1};
  net::Acceptor open = listen_on(io, "127.0.0.1");
  support::FullListener silent{io};
  Clock::duration took{};
};

TEST_F(RaceTest, GoesOnAtOnceWhenAnAttemptFails) {
  const auto socket = race_to({refusing(), refusing(), open.local_endpoint()}, 5s);
  ASSERT_TRUE(socket);
  EXPECT_EQ(socket->remote_endpoint(), open.local_endpoint());
  EXPECT_LT(took, support::allowed(4s));
}

TEST_F(RaceTest, TakesNoSocketWhoseNumberIsScarce) {
  const auto lowest = static_cast<std::size_t>(net::Socket(io, net::tcp::v4()).native_handle());
  const auto socket_below = [&](std::size_t scarce_from) {
    return run(io, race({open.local_endpoint()}, {60ms, scarce_from}, clock, Clock::now() + 10s));
  };
  EXPECT_EQ(socket_below(lowest).error(), Errc::no_descriptors);
  EXPECT_TRUE(socket_below(lowest + 1));
}

TEST_F(RaceTest, GivesEachAttemptItsHeadStart) {
  const auto socket = race_to({silent.endpoint(), silent.endpoint(), open.local_endpoint()}, 60ms);
  ASSERT_TRUE(socket);
  EXPECT_EQ(socket->remote_endpoint(), open.local_endpoint());
  EXPECT_GE(took, 120ms);
}

TEST_F(RaceTest, DoesNotTroubleTheSecondWhereTheFirstAnswers) {
  auto other = listen_on(io, "127.0.0.1");
  ASSERT_TRUE(race_to({open.local_endpoint(), other.local_endpoint()}, 5s));
  other.non_blocking(true);
  boost::system::error_code error;
  const net::Socket nobody = other.accept(error);
  EXPECT_EQ(error, boost::asio::error::would_block);
}

TEST_F(RaceTest, EndsInTime) {
  const auto socket = race_to({silent.endpoint(), silent.endpoint()}, 10ms, 100ms);
  EXPECT_EQ(socket.error(), Errc::connect_timed_out);
  EXPECT_GE(took, 100ms);
  EXPECT_LT(took, support::allowed(4s));
}

TEST_F(RaceTest, SaysWhyNobodyWon) {
  EXPECT_EQ(race_to({refusing(), refusing()}, 5s).error(), Errc::connect_refused);
  const net::tcp::endpoint unusable(boost::asio::ip::make_address("255.255.255.255"), 80);
  EXPECT_EQ(race_to({unusable}, 5s).error(), Errc::connect_failed);
  EXPECT_EQ(race_to({}, 5s).error(), Errc::connect_failed);
}

}  // namespace
}  // namespace proxy::upstream
