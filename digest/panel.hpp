// Looks one key up in many Bloom filters at once: which of 64 neighbours claim it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "digest/bloom_filter.hpp"
#include "digest/key.hpp"
#include "digest/processor.hpp"
#include "digest/siphash.hpp"

namespace digest {

inline constexpr std::size_t kSipLanes = 8;

// The two halves of eight salts, side by side as a vector register takes them.
struct SaltLanes {
  alignas(64) std::array<std::uint64_t, kSipLanes> first{};
  alignas(64) std::array<std::uint64_t, kSipLanes> second{};

  void set(std::size_t lane, const Salt& salt);
};

struct HashLanes {
  alignas(64) std::array<std::uint64_t, kSipLanes> low;
  alignas(64) std::array<std::uint64_t, kSipLanes> high;
};

// Computes SipHash128(salt, key.bytes) for the first `count` of the salts, and perhaps for more.
// The result does not depend on `instructions`, which the machine must support.
void siphash_lanes(const SaltLanes& salts, std::size_t count, const Key& key,
                   Instructions instructions, HashLanes& out);

// Gives the same answers as contains() of each filter for a fraction of the cost. It computes the
// hashes under eight salts side by side, prefetches the first bits of all filters before it looks
// at any of them, and fetches further bits only for filters whose first ones are set. Immutable;
// any number of threads.
class Panel {
 public:
  Panel() = default;
  // The filters must outlive the panel and must not change. A null pointer stands for a filter
  // without keys. The constructor copies only sizes and addresses.
  explicit Panel(std::span<const BloomFilter* const> filters);

  // Calls found(index into `filters`) once for each filter that contains the key, in no particular
  // order. Does not allocate.
  template <class Found>
  void ask(const Key& key, Found found, Instructions instructions = kBestInstructions) const {
    Claimants claimants;
    for (const Block& block : blocks_) {
      sift(block, key, instructions, claimants);
      for (std::size_t i = 0; i < claimants.count; ++i) {
        found(std::size_t{block.lanes[claimants.lanes[i]].place});
      }
    }
  }

 private:
  static constexpr std::size_t kBlock = 64;

  // One filter of the panel. Its position i is i * stride + scaled(hash, choices); see Positions.
  struct Lane {
    const std::uint8_t* bytes;
    std::uint64_t choices;
    std::uint64_t stride;
    std::uint64_t reciprocal;  // Squid's hash is a word of the key times this
    std::uint32_t hashes;
    std::uint32_t place;
  };

  // At most kBlock filters, all of one derivation.
  struct Block {
    Derivation derivation;
    std::vector<Lane> lanes;
    std::vector<SaltLanes> salts;  // only for Derivation::salted
  };

  // The lanes of a block that have claimed the key so far. Not bytes: a write through a byte may
  // alias anything, so the compiler would have to reload everything else.
  struct Claimants {
    std::array<std::uint32_t, kBlock> lanes;
    std::size_t count;
  };

  template <class HashOf>
  class Sieve;

  Block& block_for(Derivation derivation);
  static void sift(const Block& block, const Key& key, Instructions instructions, Claimants& left);
  static void sift_salted(const Block& block, const Key& key, Instructions instructions,
                          Claimants& left);

  std::vector<Block> blocks_;
};

}  // namespace digest
