// The memory that the cache uses, in one number: heads, blocks, index nodes, ghosts.
#pragma once

#include <atomic>
#include <bit>
#include <boost/core/noncopyable.hpp>
#include <cstdint>

namespace proxy::cache {

// The memory that an allocation of this size takes: the allocator rounds it up to one of its sizes,
// of which there are four between two powers of two. (jemalloc, of which this is the documented
// behaviour; others take as much, or less.)
constexpr std::uint64_t heap_bytes(std::uint64_t size) {
  const auto power = std::bit_ceil(size);
  const auto step = power <= 128 ? 16 : power / 8;
  return (size + step - 1) / step * step;
}

// Counts bytes against a limit. Charging never fails: callers make room first (Store::make_room) or
// give up. Any thread; the count is exact, but not ordered with other memory operations. Must
// outlive everything that is charged to it.
class Budget : boost::noncopyable {
 public:
  explicit Budget(std::uint64_t limit) : limit_(limit) {}

  void charge(std::uint64_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void release(std::uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }

  std::uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  std::uint64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  // Whoever lowers the limit makes room afterwards.
  void set_limit(std::uint64_t limit) { limit_.store(limit, std::memory_order_relaxed); }
  bool over() const { return used() > limit(); }

 private:
  std::atomic<std::uint64_t> used_ = 0;
  std::atomic<std::uint64_t> limit_;
};

// Bytes that stay charged while this object exists.
class Charge : boost::noncopyable {
 public:
  Charge(Budget& budget, std::uint64_t bytes) : budget_(budget), bytes_(bytes) {
    budget_.charge(bytes_);
  }
  ~Charge() { budget_.release(bytes_); }

  std::uint64_t bytes() const { return bytes_; }
  bool is_for(const Budget& budget) const { return &budget_ == &budget; }

 private:
  Budget& budget_;
  const std::uint64_t bytes_;
};

}  // namespace proxy::cache
