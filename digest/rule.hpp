// Names of the rules by which caches reuse responses beyond what origins allow.
//
// A cache may keep a response fresh for longer than its origin says, because a rule of its operator
// says so. A neighbour with the same rule judges the response the same way, and may use it. A
// neighbour without the rule may not, nor may a Squid. So a digest claims such a response under a
// key that only those look up who have the rule. Everything here is wire format.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "digest/key.hpp"
#include "digest/little_endian.hpp"
#include "digest/siphash.hpp"

namespace digest {

// A number that stands for the meaning of a rule. Neighbours with the same number judge responses
// alike.
using RuleHash = std::uint64_t;  // 0: no rule
// The part of a RuleHash on which keys depend. Two rules may share a mark, so a proxy that asks for
// a response because of a mark still has to compare the hashes.
using RuleMark = std::uint16_t;  // 0: no rule; less than kMostMarks
inline constexpr std::uint16_t kMostMarks = 1U << 12;
// The mark of no rule: a claim with it says that its owner holds a part of the response, of a MiB
// or more. Only a question for a range looks it up, and the owner may hold another part.
inline constexpr RuleMark kOfPart = kMostMarks - 1;

// Bytes 0 to 7, as a little-endian number, of the MD5 of a byte of value 1 and the text, and 1 if
// they are 0.
inline RuleHash rule_hash(std::string_view meaning) {
  const Key key = key_of(Method::get, meaning);
  // 0 means that there is no rule.
  return std::max<RuleHash>(load<std::uint64_t>(key.bytes.data()), 1);
}

// The lowest 12 bits, and 1 if they are 0 or kOfPart. Of hash 0: 0.
constexpr RuleMark mark_of(RuleHash hash) {
  const auto lowest = static_cast<RuleMark>(hash % kMostMarks);
  return hash != 0 && (lowest == 0 || lowest == kOfPart) ? RuleMark{1} : lowest;
}

// A mark that was written down; of any other number its lowest 12 bits.
constexpr RuleMark mark_in(std::uint16_t number) {
  return static_cast<RuleMark>(number % kMostMarks);
}

// The key under which a digest claims `key` for neighbours that have a rule of this mark:
// SipHash-2-4 with 128 bits of output, keyed with `key`, of the mark in 2 bytes, little-endian. For
// mark 0 it is `key`.
inline Key under_rule(const Key& key, RuleMark mark) {
  if (mark == 0) return key;
  std::array<std::uint8_t, 2> bytes{};
  store(bytes.data(), mark);
  // The key is the secret here, though it is none: the hash only has to send the same mark
  // elsewhere for each key, so that a claim under a rule cannot be taken for one of another URL.
  const SipHash128 hash(key.bytes, bytes);
  Key ruled;
  store(&ruled.bytes[0], hash.low());
  store(&ruled.bytes[8], hash.high());
  return ruled;
}

// A claim says that its owner holds a response. A claim without a rule is for every neighbour; a
// claim with a rule is for the neighbours that have the same rule. With kOfPart it says that its
// owner holds a part.
struct Claim {
  Key key;
  RuleMark rule = 0;

  auto operator<=>(const Claim&) const = default;
  bool is_for_all() const { return rule == 0; }
  // The key that the digest contains.
  Key in_digest() const { return under_rule(key, rule); }
};

struct ClaimHash {
  using is_avalanching = void;

  std::size_t operator()(const Claim& claim) const {
    return KeyHash{}(claim.key) ^ std::size_t{claim.rule} << 16;
  }
};

// A claim entered the set or left it. The changes of one claim alternate: a claim in the set is not
// added again, and a claim outside is not removed.
struct KeyChange {
  enum class What : std::uint8_t { added, removed };

  Key key;
  What what;
  RuleMark rule = 0;  // of the claim

  Claim claim() const { return {key, rule}; }
  bool operator==(const KeyChange&) const = default;
};

// Whether a reader of changes received all of them since its last reading.
enum class Collected : std::uint8_t {
  complete,
  overflowed,  // some were lost: read the whole set instead
};

}  // namespace digest
