// Sets of the keys seen so far, which tell whether a key is new.
#pragma once

#include <cstdint>
#include <string>

#include "digest/bloom_filter.hpp"
#include "digest/scalable_filter.hpp"
#include "proxy/command/streams.hpp"
#include "proxy/inspect/report.hpp"

namespace proxy::command {

using inspect::Report;

// In each set, insert(key) returns true if the key is new, and remembers it. A key that the set
// remembers is never taken for new; at most the share `rate` of new keys is taken for remembered.
// describe() reports what is remembered, in how many bytes, and the present error rate.

// Remembers all keys, and grows.
class GrowingSeenSet {
 public:
  static Result<GrowingSeenSet> create(double rate);
  Result<bool> insert(const digest::Key& key);
  Report describe() const;

 private:
  explicit GrowingSeenSet(digest::ScalableFilter filter) : filter_(std::move(filter)) {}
  digest::ScalableFilter filter_;
};

// Remembers `capacity` keys; one more new key is trouble.
class BoundedSeenSet {
 public:
  static Result<BoundedSeenSet> create(std::uint64_t capacity, double rate);
  Result<bool> insert(const digest::Key& key);
  Report describe() const;

 private:
  explicit BoundedSeenSet(digest::StrictFilter filter) : filter_(std::move(filter)) {}
  digest::StrictFilter filter_;
};

// Remembers at least the last `window` distinct keys and at most twice as many, in constant memory.
// The recent filter receives keys until it has `window` of them; then it becomes the older filter,
// and the former older filter is emptied and becomes the recent one. A key that only the older
// filter contains is not new, but enters the recent one, so that a recurring key is not forgotten.
class WindowSeenSet {
 public:
  static Result<WindowSeenSet> create(std::uint64_t window, double rate);
  Result<bool> insert(const digest::Key& key);
  Report describe() const;
  std::string remembers() const;
  std::size_t byte_count() const { return recent_.bytes().size() + older_.bytes().size(); }

  // Distinct keys forgotten so far, not counting the few that were mistaken for renewed ones.
  std::uint64_t forgotten() const { return forgotten_; }

 private:
  WindowSeenSet(std::uint64_t window, digest::BloomFilter empty)
      : window_(window), recent_(empty), older_(std::move(empty)) {}
  void turn();

  std::uint64_t window_;
  digest::BloomFilter recent_;
  digest::BloomFilter older_;
  std::uint64_t recent_keys_ = 0;
  std::uint64_t older_keys_ = 0;
  std::uint64_t renewed_ = 0;  // keys of older_ that are in recent_ too
  std::uint64_t forgotten_ = 0;
};

}  // namespace proxy::command
