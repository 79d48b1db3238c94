#include "digest/siphash_lanes.hpp"

#include <bit>
#include <cstring>

#include "digest/little_endian.hpp"

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
struct State {
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
    State<Vector, kSets> state;
    state.start(&salts.first[at], &salts.second[at]);
    state.absorb(load64(key.bytes.data()));
    state.absorb(load64(key.bytes.data() + 8));
    state.absorb(std::uint64_t{sizeof key.bytes} << 56);
    state.finish(state.v2, 0xee, &out.low[at]);
    state.finish(state.v1, 0xdd, &out.high[at]);
  }
}

// A site of two or three machines has no more neighbours. Lane by lane is cheaper than eight then.
constexpr std::size_t kFew = 2;
void hash_few(const SaltLanes& salts, std::size_t count, const Key& key, HashLanes& out) {
  hash<std::uint64_t, 1>(salts, key, out, count);
}

void hash_portable(const SaltLanes& salts, const Key& key, HashLanes& out) {
  hash<Lanes<16>, 2>(salts, key, out);
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
  if (count <= kFew) return hash_few(salts, count, key, out);
#ifdef __x86_64__
  if (instructions == Instructions::avx512) {
    return hash_avx512(salts, key, out);
  }
  if (instructions == Instructions::avx2) {
    return hash_avx2(salts, key, out);
  }
#endif
  hash_portable(salts, key, out);
}

}  // namespace digest
