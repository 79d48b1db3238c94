#include "proxy/crowd/client_table.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace proxy::crowd {
namespace {

config::Address address(std::string_view text) {
  return config::parse_address(text).value();
}

bool is_one_client(std::string_view one, std::string_view other) {
  return counted_as(address(one)) == counted_as(address(other));
}

TEST(CountedAs, AnAddressOfIPv4OrOfALocalNetworkIsOneClient) {
  EXPECT_FALSE(is_one_client("10.0.0.1", "10.0.0.2"));
  EXPECT_FALSE(is_one_client("fd00::1", "fd00::2"));
  EXPECT_FALSE(is_one_client("fe80::1", "fe80::2"));
  EXPECT_FALSE(is_one_client("::1", "127.0.0.1"));
}

TEST(CountedAs, ANetworkOfIPv6IsOneClient) {
  EXPECT_TRUE(is_one_client("2001:db8:0:1::1", "2001:db8:0:1:ffff::2"));
  EXPECT_FALSE(is_one_client("2001:db8:0:1::1", "2001:db8:0:2::1"));
}

TEST(NetworkOf, IsWhatOneHostOrCustomerMayUseOfIPv6) {
  const auto network = [](std::string_view text) { return network_of(address(text)); };
  EXPECT_FALSE(network("10.0.0.1"));
  EXPECT_FALSE(network("::1"));
  EXPECT_EQ(network("2001:db8:1:2::3"), address("2001:db8:1::"));
  EXPECT_EQ(network("fd00:0:0:2::3"), address("fd00:0:0:2::"));
  EXPECT_EQ(network("fe80::3"), address("fe80::"));
}

constexpr ConnectionLimits kWide{100, 100};

TEST(ClientTable, CountsTheConnectionsOfEachClient) {
  ClientTable table;
  const auto one = table.enter(address("10.0.0.1"), kWide);
  const auto again = table.enter(address("10.0.0.1"), kWide);
  const auto other = table.enter(address("10.0.0.2"), kWide);
  EXPECT_EQ(&one->share(), &again->share());
  EXPECT_EQ(table.connections_of(address("10.0.0.1")), 2U);
  EXPECT_EQ(other->share().connections, 1U);
  EXPECT_EQ(table.connections(), 3U);
  EXPECT_EQ(table.clients(), 2U);
}

TEST(ClientTable, ForgetsAClientWithItsLastConnection) {
  ClientTable table;
  auto one = table.enter(address("10.0.0.1"), kWide);
  auto again = table.enter(address("10.0.0.1"), kWide);
  one.reset();
  EXPECT_EQ(table.clients(), 1U);
  const auto moved = std::move(again);
  again.reset();
  EXPECT_EQ(table.clients(), 1U) << "the guest has moved";
  EXPECT_EQ(table.connections_of(address("10.0.0.9")), 0U);
  EXPECT_EQ(table.clients(), 1U) << "a question makes no entry";
}

TEST(ClientTable, KeepsEachClientToItsLimitAndAllTogetherToTheirs) {
  ClientTable table;
  constexpr ConnectionLimits kLimits{4, 2};
  std::vector<ClientTable::Guest> guests;
  for (const auto* from : {"10.0.0.1", "10.0.0.1", "10.0.0.2", "10.0.0.2"}) {
    guests.push_back(table.enter(address(from), kLimits).value());
  }
  EXPECT_FALSE(table.enter(address("10.0.0.1"), kLimits));
  EXPECT_EQ(table.connections(), 4U);
  EXPECT_EQ(table.clients(), 2U);
  guests.erase(guests.begin());
  EXPECT_TRUE(table.enter(address("10.0.0.1"), kLimits));
}

TEST(ClientTable, KeepsTheClientsOfOneNetworkToThreeQuarters) {
  for (const std::string network : {"fd00::", "2001:db8:1:"}) {
    ClientTable table;
    constexpr ConnectionLimits kLimits{8, 4};
    std::vector<ClientTable::Guest> guests;
    for (int host = 1; host <= 9; ++host) {
      const auto from =
          address(network + std::to_string(host) + (network.ends_with("::") ? "" : "::"));
      auto guest = table.enter(from, kLimits);
      EXPECT_EQ(guest.has_value(), host <= 6) << host;
      EXPECT_EQ(table.network_has_room(from, kLimits), host < 6) << host;
      if (guest) guests.push_back(std::move(*guest));
    }
    EXPECT_EQ(table.clients(), 6U);
    EXPECT_TRUE(table.network_has_room(address("10.0.0.1"), kLimits));
    EXPECT_TRUE(table.enter(address("2001:db8:2:1::"), kLimits)) << "another network";
    guests.pop_back();
    EXPECT_TRUE(
        table.enter(address(network + "f" + (network.ends_with("::") ? "" : "::")), kLimits));
  }
}

TEST(ClientTable, LetsAClientBelowTheAverageInBeyondTheLimit) {
  ClientTable table;
  constexpr ConnectionLimits kLimits{16, 16};
  std::vector<ClientTable::Guest> guests;
  for (int i = 0; i < 16; ++i) guests.push_back(table.enter(address("10.0.0.1"), kLimits).value());
  EXPECT_FALSE(table.enter(address("10.0.0.1"), kLimits)) << "it has more than its part";
  const auto other = table.enter(address("10.0.0.2"), kLimits);
  EXPECT_TRUE(other);
  EXPECT_FALSE(table.enter(address("10.0.0.3"), kLimits)) << "only one in sixteen";
}

TEST(ClientTable, HasAReserveBeyondAllLimitsThatIsLimitedToo) {
  ClientTable table;
  std::vector<ClientTable::Guest> guests;
  while (auto guest = table.enter_reserve(address("10.0.0.1"), kWide)) {
    guests.push_back(std::move(*guest));
  }
  EXPECT_EQ(guests.size(), kWide.reserve());
  EXPECT_TRUE(guests.back().in_reserve());
  EXPECT_TRUE(table.enter(address("10.0.0.2"), {1, 1})) << "it takes nothing from the others";
  guests.clear();
  EXPECT_EQ(table.connections(), 0U);
  EXPECT_EQ(table.clients(), 0U);
}

TEST(RequestUnderWay, MayBeginWhileItsClientHasFewEnough) {
  ClientShare share;
  constexpr RequestLimits kOne{1, 9};
  RequestUnderWay one(&share);
  EXPECT_TRUE(one.begin(kOne));
  EXPECT_TRUE(one.begin(kOne)) << "counted once";
  {
    RequestUnderWay other(&share);
    EXPECT_FALSE(other.begin(kOne));
    EXPECT_FALSE(other.begin(kOne));
  }
  EXPECT_EQ(share.requests, 1U);
  RequestUnderWay never_begun(&share);
  RequestUnderWay uncounted(nullptr);
  EXPECT_TRUE(uncounted.begin({0, 0}));
}

TEST(RequestUnderWay, MayBeginWhileItsNetworkHasFewEnough) {
  NetworkShare network;
  std::array<ClientShare, 2> clients;
  for (auto& client : clients) client.network = &network;
  constexpr RequestLimits kOneOfNetwork{9, 1};
  {
    RequestUnderWay one(&clients[0]);
    EXPECT_TRUE(one.begin(kOneOfNetwork));
    RequestUnderWay other(&clients[1]);
    EXPECT_FALSE(other.begin(kOneOfNetwork));
  }
  EXPECT_EQ(network.requests, 0U);
}

TEST(PartOfSum, AreCountedUntilTheirConnectionEnds) {
  std::atomic<std::uint64_t> of_client = 0;
  std::atomic<std::uint64_t> of_all = 5;
  {
    PartOfSum one(of_all, &of_client);
    PartOfSum other(of_all);
    one.set(100);
    other.set(10);
    one.set(70);
    EXPECT_EQ(of_client, 70U);
    EXPECT_EQ(of_all, 85U);
  }
  EXPECT_EQ(of_client, 0U);
  EXPECT_EQ(of_all, 5U);
}

TEST(ClientTable, TellsTheMostThatOneClientHolds) {
  ClientTable table;
  EXPECT_EQ(table.most_of_one(&ClientShare::head_bytes), 0U);
  const auto a = table.enter(address("10.0.0.1"), kWide);
  const auto b = table.enter(address("10.0.0.2"), kWide);
  a->share().head_bytes = 5;
  b->share().head_bytes = 7;
  b->share().unread_bytes = 6;
  EXPECT_EQ(table.most_of_one(&ClientShare::head_bytes), 7U);
  EXPECT_EQ(table.most_of_one(&ClientShare::unread_bytes), 6U);
  EXPECT_EQ(table.most_of_one(&ClientShare::connections), 1U);
}

}  // namespace
}  // namespace proxy::crowd
