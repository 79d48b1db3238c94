// Which keys this cache may claim to hold, told as changes: what the digest follows.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "digest/key_change.hpp"

namespace proxy::cache {

// A claim holds while a whole variant stays claimable for longer than this from now: what a
// neighbour is told remains true while the news travels and it asks.
inline constexpr std::chrono::seconds kClaimAhead{5};

using digest::Collected;
using digest::KeyChange;

// The changes of one shard since they were last taken, in order. Bounded: beyond `limit` all are
// given up, and nothing is recorded until restart(). Not thread-safe: the shard's lock guards it.
class ChangeQueue {
 public:
  explicit ChangeQueue(std::size_t limit) : limit_(limit) {}

  void append(const digest::Key& key, KeyChange::What what);
  // Moves all changes to the end of `out`.
  Collected drain(std::vector<KeyChange>& out);
  // Forgets everything: the reader has just seen the whole truth.
  void restart();

 private:
  const std::size_t limit_;
  std::vector<KeyChange> changes_;
  bool overflowed_ = false;
};

}  // namespace proxy::cache
