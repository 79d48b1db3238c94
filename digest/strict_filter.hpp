// A Bloom filter that refuses keys beyond the number it was sized for.
#pragma once

#include <boost/system/result.hpp>
#include <cstdint>
#include <span>
#include <utility>

#include "digest/bloom_filter.hpp"

namespace digest {

enum class StrictError : std::uint8_t {
  full,  // the key is new, and the filter has `capacity` keys
};

// Takes `capacity` keys that it does not claim yet and then refuses new ones, so the rate it was
// sized for is never exceeded. A key that it already claims is always accepted. Otherwise like
// BloomFilter.
class StrictFilter {
 public:
  // The filter must be empty.
  StrictFilter(BloomFilter empty, std::uint64_t capacity)
      : filter_(std::move(empty)), capacity_(capacity) {}

  // Returns true if the key was certainly absent before. On an error nothing changes.
  boost::system::result<bool, StrictError> insert(const Key& key) {
    if (inserted_ == capacity_ && !contains(key)) return StrictError::full;
    const bool fresh = filter_.insert(key);
    inserted_ += fresh ? 1 : 0;
    return fresh;
  }

  // Returns how many keys were new. Stops at the first key that is refused; the keys before it are
  // inserted.
  boost::system::result<std::uint64_t, StrictError> insert(std::span<const Key> keys) {
    const std::uint64_t before = inserted_;
    for (const Key& key : keys) {
      if (!insert(key)) return StrictError::full;
    }
    return inserted_ - before;
  }

  bool contains(const Key& key) const { return filter_.contains(key); }

  std::uint64_t inserted() const { return inserted_; }
  std::uint64_t capacity() const { return capacity_; }
  const BloomFilter& filter() const { return filter_; }

 private:
  BloomFilter filter_;
  std::uint64_t capacity_;
  std::uint64_t inserted_ = 0;
};

}  // namespace digest
