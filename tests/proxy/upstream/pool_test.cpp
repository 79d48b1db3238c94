#include "proxy/upstream/pool.hpp"

#include <gtest/gtest.h>

#include <list>

#include "tests/support/loopback.hpp"

namespace proxy::upstream {
namespace {

using namespace std::chrono_literals;
using support::run;

const Endpoint kA{false, "a.test", 80, NamedBy::client};
const Endpoint kB{false, "b.test", 80, NamedBy::client};

struct PoolTest : testing::Test, support::Loop {
  // A connection whose other end is far.back().
  std::unique_ptr<net::Stream> connection() {
    auto [one, other] = support::connected_pair(io);
    far.emplace_back(std::move(other), deadlines);
    return std::make_unique<net::Stream>(std::move(one), deadlines);
  }
  net::Stream* give(Pool& pool, const Endpoint& endpoint) {
    auto stream = connection();
    auto* const address = stream.get();
    pool.give_back(endpoint, std::move(stream));
    return address;
  }

  std::list<net::Stream> far;
};

TEST_F(PoolTest, HandsOutTheNewestFirstAndEachOnce) {
  Pool pool(deadlines);
  auto* const first = give(pool, kA);
  auto* const second = give(pool, kA);
  EXPECT_EQ(pool.take(kA).get(), second);
  EXPECT_EQ(pool.take(kA).get(), first);
  EXPECT_EQ(pool.take(kA), nullptr);
  EXPECT_EQ(pool.size(), 0U);
}

TEST_F(PoolTest, KeepsEndpointsApart) {
  Pool pool(deadlines);
  give(pool, kA);
  for (const auto& other : {Endpoint{true, "a.test", 80, NamedBy::client}, kB,
                            Endpoint{false, "a.test", 81, NamedBy::client},
                            Endpoint{false, "a.test", 80, NamedBy::configured}}) {
    EXPECT_EQ(pool.take(other), nullptr);
  }
  EXPECT_NE(pool.take(kA), nullptr);
}

TEST_F(PoolTest, TellsWhetherItHasAConnection) {
  Pool pool(deadlines);
  EXPECT_FALSE(pool.has(kA));
  give(pool, kA);
  EXPECT_TRUE(pool.has(kA));
  EXPECT_FALSE(pool.has(kB));
  EXPECT_NE(pool.take(kA), nullptr);
  EXPECT_FALSE(pool.has(kA));
}

TEST_F(PoolTest, PassesOverConnectionsThatDied) {
  Pool pool(deadlines);
  auto* const alive = give(pool, kA);
  give(pool, kA);
  far.back().close();
  give(pool, kA);
  EXPECT_FALSE(run(io, far.back().write(boost::asio::buffer("unasked", 7))));
  EXPECT_EQ(pool.take(kA).get(), alive);
  EXPECT_EQ(pool.size(), 0U);
}

TEST_F(PoolTest, DropsTheOldestBeyondItsLimits) {
  Pool pool(deadlines, PoolLimits{2, 3, 60s});
  give(pool, kA);
  auto* const second = give(pool, kA);
  auto* const third = give(pool, kA);
  give(pool, kB);
  EXPECT_EQ(pool.size(), 3U);
  EXPECT_EQ(pool.take(kA).get(), third);
  EXPECT_EQ(pool.take(kA).get(), second);
  EXPECT_EQ(pool.take(kA), nullptr);

  for (const auto* endpoint : {&kA, &kA, &kB}) give(pool, *endpoint);
  EXPECT_EQ(pool.size(), 3U);  // four were given back, the first of B was dropped
  EXPECT_NE(pool.take(kB), nullptr);
  EXPECT_EQ(pool.take(kB), nullptr);
}

TEST_F(PoolTest, TakesNothingWhereItsLimitIsNone) {
  Pool pool(deadlines, PoolLimits{0, 0, 60s});
  give(pool, kA);
  EXPECT_EQ(pool.size(), 0U);
}

TEST_F(PoolTest, ClosesWhatHasBeenIdleForTooLong) {
  Pool pool(deadlines, PoolLimits{32, 512, 300ms});
  give(pool, kA);
  auto& old = far.back();
  io.run_for(200ms);
  give(pool, kB);
  char byte = 0;
  const auto end = run(io, old.read_some(boost::asio::buffer(&byte, 1)));
  EXPECT_EQ(end.error(), boost::asio::error::eof);
  EXPECT_EQ(pool.take(kA), nullptr);
  EXPECT_EQ(pool.size(), 1U);  // the younger one stays
  EXPECT_EQ(run(io, far.back().read_some(boost::asio::buffer(&byte, 1))).error(),
            boost::asio::error::eof);
  EXPECT_EQ(pool.size(), 0U);
}

TEST_F(PoolTest, FreesConnectionsFromTheirDeadline) {
  Pool pool(deadlines);
  auto stream = connection();
  stream->expires_after(1ms);
  pool.give_back(kA, std::move(stream));
  io.run_for(200ms);
  EXPECT_NE(pool.take(kA), nullptr);
}

TEST_F(PoolTest, KeepsConnectionsWhileItForgetsEndpointsWithoutOne) {
  Pool pool(deadlines, {.in_all = 4});
  auto* const kept = give(pool, kA);
  for (int i = 0; i < 200; ++i) {
    const Endpoint one{false, "host" + std::to_string(i) + ".test", 80, NamedBy::client};
    auto* const stream = give(pool, one);
    ASSERT_EQ(pool.take(one).get(), stream);
    far.pop_back();
  }
  EXPECT_EQ(pool.size(), 1U);
  EXPECT_EQ(pool.take(kA).get(), kept);
}

}  // namespace
}  // namespace proxy::upstream
