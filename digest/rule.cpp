#include "digest/rule.hpp"

#include <algorithm>
#include <array>

#include "digest/little_endian.hpp"
#include "digest/siphash.hpp"

namespace digest {

RuleHash rule_hash(std::string_view meaning) {
  const Key key = key_of(Method::get, meaning);
  // 0 means that there is no rule.
  return std::max<RuleHash>(load<std::uint64_t>(key.bytes.data()), 1);
}

Key under_rule(const Key& key, RuleMark mark) {
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

}  // namespace digest
