// SipHash128 of one key under many salts, eight at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

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

}  // namespace digest
