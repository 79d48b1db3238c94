#include "proxy/observe/refused_neighbours.hpp"

#include <gtest/gtest.h>

namespace proxy::observe {
namespace {

using namespace std::chrono_literals;

const RefusedNeighbours::Time kFirst{1h};

config::Address address(std::uint8_t last) {
  return config::address_from_v4({10, 0, 0, last});
}

TEST(RefusedNeighbours, AreThoseThatWereRefusedLately) {
  RefusedNeighbours refused;
  refused.record({address(1), "10.0.0.1", kFirst});
  refused.record({address(2), "10.0.0.2", kFirst + 1s});
  refused.record({address(1), "10.0.0.1", kFirst + 2s});
  EXPECT_EQ(refused.lately(kFirst + 2s).size(), 2U);
  const auto later = refused.lately(kFirst + 1s + RefusedNeighbours::kLately);
  ASSERT_EQ(later.size(), 1U);
  EXPECT_EQ(later.front().text, "10.0.0.1");
  EXPECT_TRUE(refused.lately(kFirst + 2s + RefusedNeighbours::kLately).empty());
}

TEST(RefusedNeighbours, AreBoundedAndForgetTheOneThatIsSilentForLongest) {
  RefusedNeighbours refused;
  for (std::uint8_t i = 0; i < 20; ++i) {
    refused.record({address(i), std::to_string(i), kFirst + std::chrono::seconds(i)});
  }
  const auto all = refused.lately(kFirst + 20s);
  ASSERT_EQ(all.size(), RefusedNeighbours::kMost);
  EXPECT_EQ(all.front().text, "4");
}

}  // namespace
}  // namespace proxy::observe
