#include "proxy/lists/list.hpp"

#include <gtest/gtest.h>

#include <random>

namespace proxy::lists {
namespace {

config::Network masked(config::Address address, unsigned prefix) {
  for (unsigned bit = prefix; bit < 128; ++bit) {
    address[bit / 8] = static_cast<std::uint8_t>(address[bit / 8] & ~(0x80U >> (bit % 8)));
  }
  return {address, prefix};
}

// Addresses of both families that differ only in their first and last bits; ranges of all lengths.
TEST(NetworkSet, ContainsWhatASearchOneByOneFinds) {
  std::minstd_rand random(1);
  const auto draw = [&] {
    config::Address address{};
    if (random() % 2 == 0) address = config::address_from_v4({10, 0, 0, 0});
    const bool v4 = config::is_v4(address);
    address[v4 ? 12 : 0] = static_cast<std::uint8_t>(random() % 8 * 32);
    address[15] = static_cast<std::uint8_t>(random() % 8);
    return address;
  };
  for (int round = 0; round < 200; ++round) {
    NetworkSet set;
    config::Networks all;
    for (auto n = random() % 12; n > 0; --n) {
      const auto address = draw();
      const unsigned least = config::is_v4(address) ? 96 : 0;
      all.push_back(masked(address, least + static_cast<unsigned>(random() % (129 - least))));
      set.insert(all.back());
    }
    set.finish();
    EXPECT_LE(set.size(), all.size());
    for (int i = 0; i < 100; ++i) {
      const auto address = draw();
      ASSERT_EQ(set.contains(address), config::contains(all, address)) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace proxy::lists
