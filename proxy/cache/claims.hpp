// The claims of this cache that it holds a key, reported as changes for the digest.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "digest/rule.hpp"

namespace proxy::cache {

// A key is claimed while a whole variant stays claimable for longer than this from now, so that a
// claim is still true when a neighbour has read it and asks.
inline constexpr std::chrono::seconds kClaimAhead{5};

using digest::Collected;
using digest::KeyChange;

// The changes of one shard since the last drain(), in order. Beyond `limit` changes it drops them
// all and records nothing until restart(). Not thread-safe: the lock of the shard guards it.
class ChangeQueue {
 public:
  explicit ChangeQueue(std::size_t limit) : limit_(limit) {}

  void append(const KeyChange& change);
  // Moves all changes to the end of `out`.
  Collected drain(std::vector<KeyChange>& out);
  // Forgets everything: the reader has just read the whole set.
  void restart();

 private:
  const std::size_t limit_;
  std::vector<KeyChange> changes_;
  bool overflowed_ = false;
};

}  // namespace proxy::cache
