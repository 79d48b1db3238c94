#include "proxy/crowd/bandwidth.hpp"

#include <gtest/gtest.h>

#include <map>

namespace proxy::crowd {
namespace {

using namespace std::chrono_literals;

constexpr Lanes::Time kBegin{1h};
constexpr auto kRound = 10ms;
constexpr std::uint64_t kMiB = 1 << 20;

TEST(TokenBucket, FillsWithTimeUpToWhatItMaySave) {
  TokenBucket bucket(1'000'000, kBegin);
  EXPECT_EQ(bucket.bytes(kBegin), 0U);
  EXPECT_EQ(bucket.bytes(kBegin + 10ms), 10'000U);
  bucket.take(4'000);
  EXPECT_EQ(bucket.bytes(kBegin + 10ms), 6'000U);
  EXPECT_EQ(bucket.bytes(kBegin + 1h), 200'000U);
  bucket.give_back(1);
  EXPECT_EQ(bucket.bytes(kBegin + 1h), 200'000U);
}

TEST(TokenBucket, LosesNoFractions) {
  TokenBucket bucket(333, kBegin);
  std::uint64_t taken = 0;
  for (auto now = kBegin; now < kBegin + 10s; now += 1ms) {
    const auto bytes = bucket.bytes(now);
    bucket.take(bytes);
    taken += bytes;
  }
  EXPECT_NEAR(static_cast<double>(taken), 3330, 2);
}

TEST(FairShares, AreEqualExceptForThoseWhoWantLess) {
  using Numbers = std::vector<std::uint64_t>;
  struct Case {
    std::uint64_t total;
    Numbers most, shares;
  };
  const Case cases[] = {{90, {100, 100, 100}, {30, 30, 30}},
                        {90, {10, 100, 100}, {10, 40, 40}},
                        {90, {10, 100, 20}, {10, 60, 20}},
                        {90, {10, 20}, {10, 20}},
                        {0, {10, 20}, {0, 0}},
                        {90, {}, {}}};
  for (const auto& [total, most, shares] : cases) EXPECT_EQ(fair_shares(total, most), shares);
}

config::Address client_number(std::size_t number) {
  return config::address_from_v4(
      {10, 0, static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)});
}

// Clients with several connections each, all of which send as fast as they may.
struct Crowd {
  struct Connection {
    Lane* lane = nullptr;
    Wish wish;
    std::uint64_t write = 64 * 1024;
    std::uint64_t sent = 0;
    std::uint64_t longest_wait = 0;  // in rounds
    std::uint64_t waited = 0;
  };

  Crowd(const BandwidthLimits& limits, const std::vector<int>& connections_of_each) {
    lanes.apply(limits, now);
    for (std::size_t client = 0; client < connections_of_each.size(); ++client) {
      for (int i = 0; i < connections_of_each[client]; ++i) {
        connections[client].emplace_back().lane = &lanes.enter(client_number(client), now);
      }
    }
  }

  // Sends what may be sent at once, in many small steps, so that all have their chance.
  void send_all() {
    for (bool any = true; any;) {
      any = false;
      for (auto& [client, all] : connections) {
        for (auto& each : all) any = send(each) || any;
      }
    }
  }
  bool send(Connection& each) {
    if (each.wish.waits) return false;
    auto allowed = std::exchange(each.wish.granted, 0);
    if (allowed == 0) allowed = each.lane->take(each.write);
    if (allowed == 0) {
      each.wish.bytes = each.write;
      lanes.ask(*each.lane, each.wish, now);
      allowed = std::exchange(each.wish.granted, 0);
    }
    each.sent += allowed;
    if (allowed > 0) each.waited = 0;
    return allowed > 0;
  }
  void run(std::chrono::milliseconds time) {
    for (const auto end = now + time; now < end; now += kRound) {
      send_all();
      for (auto& [client, all] : connections) {
        for (auto& each : all) {
          each.longest_wait = std::max(each.longest_wait, ++each.waited);
        }
      }
      lanes.round(now + kRound);
    }
  }
  double sent_by(std::size_t client) {
    double sum = 0;
    for (const auto& each : connections[client]) sum += static_cast<double>(each.sent);
    return sum;
  }

  Lanes lanes;
  Lanes::Time now = kBegin;
  std::map<std::size_t, std::deque<Connection>> connections;
};

TEST(Lanes, GiveEachClientAnEqualPartHoweverManyConnectionsItHas) {
  for (const auto rate : {64 * 1024, 1 << 20, 100 << 20}) {
    Crowd crowd({.all = static_cast<std::uint64_t>(rate)}, {1, 2, 7});
    crowd.run(20s);
    const double fair = rate * 20.0 / 3;
    for (std::size_t client = 0; client < 3; ++client) {
      EXPECT_NEAR(crowd.sent_by(client), fair, fair * 0.05) << rate << ' ' << client;
    }
  }
}

TEST(Lanes, GiveEachClientItsOwnRateAndNoMore) {
  Crowd crowd({.per_client = kMiB}, {1, 5});
  crowd.run(10s);
  for (std::size_t client = 0; client < 2; ++client) {
    EXPECT_NEAR(crowd.sent_by(client), 10.0 * kMiB, 0.05 * 10 * kMiB) << client;
  }
}

TEST(Lanes, GiveOthersWhatOneMayNotTake) {
  Crowd crowd({.all = 4 * kMiB, .per_client = 3 * kMiB}, {1, 1});
  crowd.connections[1][0].write = 2048;  // wants less than it may have, a little each round
  std::uint64_t little = 0;
  for (int i = 0; i < 1000; ++i) {
    auto& modest = crowd.connections[1][0];
    crowd.send(modest);
    little = modest.sent;
    auto& greedy = crowd.connections[0][0];
    while (crowd.send(greedy)) {
    }
    crowd.now += kRound;
    crowd.lanes.round(crowd.now);
  }
  EXPECT_NEAR(crowd.sent_by(0), 10.0 * 3 * kMiB, 0.05 * 30 * kMiB) << "its own limit, not a half";
  EXPECT_GT(little, 1000U * 2048 * 9 / 10);
}

TEST(Lanes, LetNoConnectionStarve) {
  Crowd crowd({.all = 256 * 1024}, std::vector<int>(50, 2));
  crowd.run(60s);
  for (std::size_t client = 0; client < 50; ++client) {
    for (const auto& each : crowd.connections[client]) {
      EXPECT_GT(each.sent, 60U * 256 * 1024 / 100 / 2);
      EXPECT_LT(each.longest_wait, 500U) << "5 s";
    }
  }
}

TEST(Lanes, NeverWaitBelowTheLimit) {
  Crowd crowd({.all = 10 * kMiB}, {1, 1});
  crowd.now += 1s;
  for (int i = 0; i < 1000; ++i) {
    for (std::size_t client = 0; client < 2; ++client) {
      auto& each = crowd.connections[client][0];
      each.write = 32 * 1024;
      crowd.send(each);
      EXPECT_FALSE(each.wish.waits) << i;
    }
    crowd.now += 10ms;  // 6.25 MiB/s in all
  }
  EXPECT_FALSE(crowd.lanes.anyone_waits());
}

TEST(Lanes, FollowNewLimitsAndNone) {
  Crowd crowd({.all = 64 * 1024}, {1});
  crowd.run(1s);
  crowd.lanes.apply({.all = kMiB}, crowd.now);
  const auto before = crowd.sent_by(0);
  crowd.run(5s);
  EXPECT_NEAR(crowd.sent_by(0) - before, 5.0 * kMiB, 0.1 * 5 * kMiB);
  crowd.send_all();
  crowd.lanes.apply({}, crowd.now);
  const auto granted = crowd.lanes.round(crowd.now);
  ASSERT_EQ(granted.size(), 1U);
  EXPECT_EQ(granted[0]->granted, granted[0]->bytes);
}

// What the client gets at once, with one new connection after the other.
std::uint64_t sent_with_new_connections(Lanes& lanes, const config::Address& client, int count,
                                        Lanes::Time now) {
  std::uint64_t sent = 0;
  for (int i = 0; i < count; ++i) {
    auto& lane = lanes.enter(client, now);
    Wish wish{.bytes = 64 * 1024};
    lanes.ask(lane, wish, now);
    sent += wish.granted;
    Lanes::step_out(lane, wish);
    lanes.leave(client, now);
  }
  return sent;
}

TEST(Lanes, LetAClientThatIsNewSendAtOnceButNotAgainWithEachConnection) {
  Lanes lanes;
  lanes.apply({.per_client = kMiB}, kBegin);
  EXPECT_EQ(sent_with_new_connections(lanes, client_number(1), 1, kBegin), 64U * 1024);
  sent_with_new_connections(lanes, client_number(1), 100, kBegin);
  EXPECT_EQ(sent_with_new_connections(lanes, client_number(1), 100, kBegin), 0U);
  EXPECT_EQ(sent_with_new_connections(lanes, client_number(2), 100, kBegin), kMiB / 5)
      << "what a full bucket holds";
  EXPECT_EQ(sent_with_new_connections(lanes, client_number(1), 100, kBegin + 1h), kMiB / 5);
  EXPECT_FALSE(lanes.anyone_waits());
}

TEST(Lanes, LetStrangersBeginEmptyWhileTooManyHaveLeft) {
  Lanes lanes;
  lanes.apply({.per_client = kMiB}, kBegin);
  for (std::size_t i = 0; i < Lanes::kMostLeft; ++i) {
    sent_with_new_connections(lanes, client_number(i), 1, kBegin);
  }
  const auto stranger = client_number(Lanes::kMostLeft);
  EXPECT_EQ(sent_with_new_connections(lanes, stranger, 1, kBegin), 0U);
  EXPECT_GT(sent_with_new_connections(lanes, stranger, 1, kBegin + 1h), 0U);
}

}  // namespace
}  // namespace proxy::crowd
