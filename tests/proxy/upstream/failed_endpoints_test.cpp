#include "proxy/upstream/origin_health.hpp"

#include <gtest/gtest.h>

#include "proxy/upstream/failure.hpp"

namespace proxy::upstream {
namespace {

using namespace std::chrono_literals;

const FailedEndpoints::Clock::time_point kNow{1000s};
const Endpoint kHost{false, "example.com", 80, NamedBy::client};

TEST(FailedEndpoints, AreKnownForATime) {
  FailedEndpoints failed(1s);
  EXPECT_FALSE(failed.find(kHost, kNow));
  failed.record(kHost, Errc::connect_refused, kNow);
  EXPECT_EQ(failed.find(kHost, kNow + 999ms), Errc::connect_refused);
  EXPECT_FALSE(failed.find(kHost, kNow + 1s));
  failed.record(kHost, Errc::connect_timed_out, kNow + 2s);
  EXPECT_EQ(failed.find(kHost, kNow + 2s), Errc::connect_timed_out);
  EXPECT_FALSE(failed.find({true, "example.com", 80, NamedBy::client}, kNow + 2s));
}

// Clients name them.
TEST(FailedEndpoints, AreHashedAsNobodyCanForesee) {
  const std::hash<Endpoint> hash;
  EXPECT_EQ(hash(kHost), hash(Endpoint(kHost)));
  Endpoint other_port = kHost;
  other_port.port = 81;
  const auto by_port = hash(kHost) ^ hash(other_port);
  Endpoint other_host{false, "example.net", 80, NamedBy::client};
  Endpoint other_both = other_host;
  other_both.port = 81;
  EXPECT_NE(hash(kHost), hash(other_port));
  EXPECT_NE(hash(other_host) ^ hash(other_both), by_port);
}

TEST(FailedEndpoints, AreThoseThatCouldNotBeConnectedTo) {
  FailedEndpoints failed(1s);
  for (const auto error : {Errc::name_not_found, Errc::resolver_timed_out, Errc::denied_address,
                           Errc::tls_failed, Errc::tls_unverified}) {
    failed.record(kHost, error, kNow);
    EXPECT_FALSE(failed.find(kHost, kNow)) << static_cast<int>(error);
  }
  failed.record(kHost, net::asio::error::operation_aborted, kNow);
  EXPECT_FALSE(failed.find(kHost, kNow));
}

TEST(FailedEndpoints, AreNotRememberedWhereTheMemoryIsOff) {
  FailedEndpoints failed(0s);
  failed.record(kHost, Errc::connect_refused, kNow);
  EXPECT_FALSE(failed.find(kHost, kNow));
}

TEST(FailedEndpoints, AreBounded) {
  FailedEndpoints failed(1s, 2);
  for (const char* host : {"a", "b", "b", "c"}) {
    failed.record({false, host, 80, NamedBy::client}, Errc::connect_failed, kNow);
  }
  EXPECT_FALSE(failed.find({false, "a", 80, NamedBy::client}, kNow));
  EXPECT_TRUE(failed.find({false, "b", 80, NamedBy::client}, kNow));
  EXPECT_TRUE(failed.find({false, "c", 80, NamedBy::client}, kNow));
}

}  // namespace
}  // namespace proxy::upstream
