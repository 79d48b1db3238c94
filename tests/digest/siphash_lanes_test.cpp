#include "digest/panel.hpp"

#include <gtest/gtest.h>

#include "instructions.hpp"
#include "keys.hpp"

namespace digest {
namespace {

TEST(SiphashLanes, GiveWhatEachSaltGivesAlone) {
  for (const Instructions instructions : instructions_here()) {
    for (std::uint64_t round = 0; round < 200; ++round) {
      SaltLanes salts;
      std::array<Salt, kSipLanes> alone;
      for (std::size_t lane = 0; lane < kSipLanes; ++lane) {
        alone[lane] = quick_key(1000 + round * kSipLanes + lane).bytes;
        salts.set(lane, alone[lane]);
      }
      HashLanes hashes;
      const auto count = 1 + round % kSipLanes;
      siphash_lanes(salts, count, quick_key(round), instructions, hashes);
      for (std::size_t lane = 0; lane < count; ++lane) {
        const SipHash128 hash(alone[lane], quick_key(round).bytes);
        ASSERT_EQ(hashes.low[lane], hash.low()) << "instructions " << int(instructions);
        ASSERT_EQ(hashes.high[lane], hash.high()) << "instructions " << int(instructions);
      }
    }
  }
}

}  // namespace
}  // namespace digest
