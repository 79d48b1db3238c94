#include "digest/panel.hpp"

#include <algorithm>
#include <cstring>

#include "digest/little_endian.hpp"
#include "digest/positions.hpp"

namespace digest {
namespace {

// The compiler's own vector type, as wide as a register.
template <std::size_t kBytes>
using Lanes __attribute__((vector_size(kBytes))) = std::uint64_t;

// Each of these must be inlined into a function that may use the wider instructions.
#define DIGEST_INLINE __attribute__((always_inline)) inline

template <int kBits, class Vector>
DIGEST_INLINE void rotate(Vector& lanes) {
  lanes = lanes << kBits | lanes >> (64 - kBits);
}

// The same steps as SipHash128, on kSets registers side by side: a single one would wait for its
// own results.
template <class Vector, std::size_t kSets>
struct SipState {
  std::array<Vector, kSets> v0, v1, v2, v3;

  DIGEST_INLINE void start(const std::uint64_t* first, const std::uint64_t* second) {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kSets; ++i) {
      std::memcpy(&v0[i], first + i * (sizeof(Vector) / 8), sizeof(Vector));
      std::memcpy(&v1[i], second + i * (sizeof(Vector) / 8), sizeof(Vector));
      v2[i] = v0[i] ^ 0x6c7967656e657261U;
      v3[i] = v1[i] ^ 0x7465646279746573U;
      v0[i] ^= 0x736f6d6570736575U;
      v1[i] ^= 0x646f72616e646f6dU ^ 0xee;
    }
  }

  DIGEST_INLINE void round() {
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kSets; ++i) {
      v0[i] += v1[i];
      rotate<13>(v1[i]);
      v1[i] ^= v0[i];
      rotate<32>(v0[i]);
      v2[i] += v3[i];
      rotate<16>(v3[i]);
      v3[i] ^= v2[i];
      v0[i] += v3[i];
      rotate<21>(v3[i]);
      v3[i] ^= v0[i];
      v2[i] += v1[i];
      rotate<17>(v1[i]);
      v1[i] ^= v2[i];
      rotate<32>(v2[i]);
    }
  }

  DIGEST_INLINE void absorb(std::uint64_t message) {
#pragma GCC unroll 4
    for (Vector& lanes : v3) lanes ^= message;
    round();
    round();
#pragma GCC unroll 4
    for (Vector& lanes : v0) lanes ^= message;
  }

  DIGEST_INLINE void finish(std::array<Vector, kSets>& mark, std::uint64_t with,
                            std::uint64_t* to) {
#pragma GCC unroll 4
    for (Vector& lanes : mark) lanes ^= with;
    round();
    round();
    round();
    round();
#pragma GCC unroll 4
    for (std::size_t i = 0; i < kSets; ++i) {
      const Vector sum = v0[i] ^ v1[i] ^ v2[i] ^ v3[i];
      std::memcpy(to + i * (sizeof(Vector) / 8), &sum, sizeof sum);
    }
  }
};

template <class Vector, std::size_t kSets>
DIGEST_INLINE void hash(const SaltLanes& salts, const Key& key, HashLanes& out,
                        std::size_t count = kSipLanes) {
  for (std::size_t at = 0; at < count; at += kSets * sizeof(Vector) / 8) {
    SipState<Vector, kSets> state;
    state.start(&salts.first[at], &salts.second[at]);
    state.absorb(load64(key.bytes.data()));
    state.absorb(load64(key.bytes.data() + 8));
    state.absorb(std::uint64_t{sizeof key.bytes} << 56);
    state.finish(state.v2, 0xee, &out.low[at]);
    state.finish(state.v1, 0xdd, &out.high[at]);
  }
}

#ifdef __x86_64__
__attribute__((target("avx2"))) void hash_avx2(const SaltLanes& salts, const Key& key,
                                               HashLanes& out) {
  hash<Lanes<32>, 2>(salts, key, out);
}

__attribute__((target("avx512f"))) void hash_avx512(const SaltLanes& salts, const Key& key,
                                                    HashLanes& out) {
  hash<Lanes<64>, 1>(salts, key, out);
}
#endif

}  // namespace

void SaltLanes::set(std::size_t lane, const Salt& salt) {
  first[lane] = load64(salt.data());
  second[lane] = load64(salt.data() + 8);
}

void siphash_lanes(const SaltLanes& salts, std::size_t count, const Key& key,
                   Instructions instructions, HashLanes& out) {
  // A site of two or three machines has no more neighbours. Lane by lane is cheaper than eight
  // then.
  constexpr std::size_t kFew = 2;
  if (count <= kFew) return hash<std::uint64_t, 1>(salts, key, out, count);
    // Chosen when the program runs and not when it is built: one package serves all machines.
#ifdef __x86_64__
  if (instructions == Instructions::avx512) return hash_avx512(salts, key, out);
  if (instructions == Instructions::avx2) return hash_avx2(salts, key, out);
#endif
  hash<Lanes<16>, 2>(salts, key, out);
}

// Sifts the lanes of a block in three rounds. Each round fetches every byte that it will test, then
// tests them all, so a lookup waits for memory three times and not once per filter. The first bit
// rules out most filters, the third almost all. hash_of(lane, i) returns the hash of position i.
template <class HashOf>
class Panel::Sieve {
 public:
  Sieve(const Block& block, HashOf hash_of, Claimants& left)
      : lanes_(block.lanes), hash_of_(hash_of), left_(left) {}

  // Starts reading the byte of a position, into the second-level cache, which can have more lines
  // in flight than the first. Forced inline: g++ 12 takes a function that does nothing else for one
  // without effect and drops the calls.
  __attribute__((always_inline)) inline void fetch(std::size_t lane, std::uint32_t i) const {
    __builtin_prefetch(lanes_[lane].bytes + (position(lane, i) >> 3), 0, 2);
  }

  void fetch_first_of_all() const {
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) fetch(lane, 0);
  }

  // The first position of every lane must have been fetched.
  void sift() {
    std::size_t kept = 0;
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
      left_.lanes[kept] = static_cast<std::uint32_t>(lane);
      kept += test(lane, 0);  // a branch would be mispredicted for every third filter
    }
    left_.count = kept;
    keep(1, 3);
    keep(3, kMaxHashes);
  }

 private:
  void keep(std::uint32_t from, std::uint32_t to) {
    // A single lane's bits are tested without a branch between them, which fetches them together.
    for (std::size_t n = 0; left_.count > 1 && n < left_.count; ++n) {
      const std::size_t lane = left_.lanes[n];
      for (std::uint32_t i = from; i < std::min(to, lanes_[lane].hashes); ++i) fetch(lane, i);
    }
    std::size_t kept = 0;
    for (std::size_t n = 0; n < left_.count; ++n) {
      const std::size_t lane = left_.lanes[n];
      unsigned set = 1;
      for (std::uint32_t i = from; i < std::min(to, lanes_[lane].hashes); ++i) set &= test(lane, i);
      left_.lanes[kept] = static_cast<std::uint32_t>(lane);
      kept += set;
    }
    left_.count = kept;
  }

  std::uint64_t position(std::size_t lane, std::uint32_t i) const {
    return i * lanes_[lane].stride + scaled(hash_of_(lane, i), lanes_[lane].choices);
  }

  unsigned test(std::size_t lane, std::uint32_t i) const {
    const std::uint64_t at = position(lane, i);
    return static_cast<unsigned>(lanes_[lane].bytes[at >> 3]) >> (at & 7) & 1;
  }

  std::span<const Lane> lanes_;
  HashOf hash_of_;
  Claimants& left_;
};

Panel::Panel(std::span<const BloomFilter* const> filters) {
  for (std::size_t place = 0; place < filters.size(); ++place) {
    if (filters[place] == nullptr) continue;
    const Shape& shape = filters[place]->shape();
    const Positions positions(shape);
    Block& block = block_for(shape.derivation);
    const std::size_t lane = block.lanes.size();
    block.lanes.push_back({.bytes = filters[place]->bytes().data(),
                           .choices = positions.choices(),
                           .stride = positions.stride(),
                           .reciprocal = positions.reciprocal(),
                           .hashes = shape.hashes,
                           .place = static_cast<std::uint32_t>(place)});
    if (shape.derivation != Derivation::salted) continue;
    if (lane % kSipLanes == 0) block.salts.emplace_back();
    block.salts.back().set(lane % kSipLanes, shape.salt);
  }
}

Panel::Block& Panel::block_for(Derivation derivation) {
  // Lanes of one kind of position stand together, so that no lookup asks for the kind of each.
  for (Block& block : blocks_) {
    if (block.derivation == derivation && block.lanes.size() < kBlock) return block;
  }
  return blocks_.emplace_back(Block{derivation, {}, {}});
}

void Panel::sift(const Block& block, const Key& key, Instructions instructions, Claimants& left) {
  if (block.derivation == Derivation::salted) {
    return sift_salted(block, key, instructions, left);
  }
  const auto sift_by = [&](auto hash_of) {
    Sieve sieve(block, hash_of, left);
    sieve.fetch_first_of_all();
    sieve.sift();
  };
  if (block.derivation == Derivation::squid_words) {
    return sift_by([&](std::size_t lane, std::uint32_t i) {
      return block.lanes[lane].reciprocal * squid_word(key, i);
    });
  }
  const std::uint64_t first = load64(key.bytes.data());
  const std::uint64_t step = load64(key.bytes.data() + 8) | 1;
  sift_by([=](std::size_t, std::uint32_t i) { return first + i * step; });
}

void Panel::sift_salted(const Block& block, const Key& key, Instructions instructions,
                        Claimants& left) {
  std::array<HashLanes, kBlock / kSipLanes> hashes;
  Sieve sieve(
      block,
      [&hashes](std::size_t lane, std::uint32_t i) {
        const HashLanes& hash = hashes[lane / kSipLanes];
        return hash.low[lane % kSipLanes] + i * (hash.high[lane % kSipLanes] | 1);
      },
      left);
  for (std::size_t lane = 0; lane < block.lanes.size(); ++lane) {
    const std::size_t group = lane / kSipLanes;
    // The bits of one group are fetched while the hashes of the next are computed.
    if (lane % kSipLanes == 0) {
      siphash_lanes(block.salts[group], block.lanes.size() - lane, key, instructions,
                    hashes[group]);
    }
    sieve.fetch(lane, 0);
  }
  sieve.sift();
}

}  // namespace digest
