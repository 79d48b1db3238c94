#include "peers/peer.hpp"

#include <gtest/gtest.h>

#include "tests/peers/samples.hpp"

namespace peers {
namespace {

using samples::key;

TEST(Denials, HoldForOneKeyAndOneDigest) {
  Denials denials;
  EXPECT_FALSE(denials.has(key("x"), 1));
  denials.record(key("x"), 1);
  EXPECT_TRUE(denials.has(key("x"), 1));
  EXPECT_FALSE(denials.has(key("y"), 1));
  EXPECT_FALSE(denials.has(key("x"), 2)) << "the digest has changed";
}

TEST(Denials, LaterOnesTakeThePlaceOfEarlierOnes) {
  Denials denials;
  const int many = 20 * static_cast<int>(Denials::kMost);
  for (int i = 0; i < many; ++i) denials.record(key(std::to_string(i).c_str()), 1);
  int known = 0;
  for (int i = 0; i < many; ++i) known += denials.has(key(std::to_string(i).c_str()), 1) ? 1 : 0;
  EXPECT_LE(known, static_cast<int>(Denials::kMost));
  EXPECT_TRUE(denials.has(key(std::to_string(many - 1).c_str()), 1));
}

}  // namespace
}  // namespace peers
