// What a crawler has seen: three sets that remember keys and say whether one is new.
#pragma once

#include <cstdint>
#include <string>

#include "digest/bloom_filter.hpp"
#include "digest/scalable_filter.hpp"
#include "digest/strict_filter.hpp"
#include "proxy/command/streams.hpp"
#include "proxy/inspect/report.hpp"

namespace proxy::command {

using inspect::Report;

// Each of them: insert(key) is true if the key is new; a key that is remembered is never taken for
// new; a new one is taken for remembered at most as often as the rate says. describe() tells what
// is remembered, in how many bytes, and how often it is wrong now.

// Remembers all, and grows.
class GrowingSeen {
 public:
  static Result<GrowingSeen> create(double rate);
  Result<bool> insert(const digest::Key& key);
  Report describe() const;

 private:
  explicit GrowingSeen(digest::ScalableFilter filter) : filter_(std::move(filter)) {}
  digest::ScalableFilter filter_;
};

// Remembers all up to its capacity; a new key beyond it is an error.
class BoundedSeen {
 public:
  static Result<BoundedSeen> create(std::uint64_t capacity, double rate);
  Result<bool> insert(const digest::Key& key);
  Report describe() const;

 private:
  explicit BoundedSeen(digest::StrictFilter filter) : filter_(std::move(filter)) {}
  digest::StrictFilter filter_;
};

// Remembers at least the last `window` distinct keys it was given and at most the last twice as
// many, for ever in the same memory: one filter takes keys until it has `window` of them, then it
// becomes the older one, and that is emptied and takes its place. A key that only the older one
// knows is not new, but enters the recent one: what keeps coming is not forgotten.
class WindowSeen {
 public:
  static Result<WindowSeen> create(std::uint64_t window, double rate);
  Result<bool> insert(const digest::Key& key);
  Report describe() const;
  std::string remembers() const;
  std::size_t byte_count() const { return recent_.bytes().size() + older_.bytes().size(); }

  // Distinct keys let go so far, less the few that were taken for renewed ones.
  std::uint64_t forgotten() const { return forgotten_; }

 private:
  WindowSeen(std::uint64_t window, digest::BloomFilter empty)
      : window_(window), recent_(empty), older_(std::move(empty)) {}
  void turn();

  std::uint64_t window_;
  digest::BloomFilter recent_;
  digest::BloomFilter older_;
  std::uint64_t recent_held_ = 0;
  std::uint64_t older_held_ = 0;
  std::uint64_t renewed_ = 0;  // of older_held_, those that are in recent_ too
  std::uint64_t forgotten_ = 0;
};

}  // namespace proxy::command
