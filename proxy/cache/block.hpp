// The memory of response bodies, in shared, counted pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "proxy/cache/budget.hpp"
#include "proxy/cache/ref.hpp"

namespace proxy::cache {

// A buffer of fixed capacity, charged to its budget while it exists. Not zeroed. One writer fills
// it from the front. Published bytes (in a Slice, or in whatever the writer shows its readers under
// a lock) never change, so readers need no lock for them.
class Block : public Counted<Block> {
 public:
  static Ref<Block> make(Budget& budget, std::uint32_t capacity) {
    return new Block(budget, capacity);
  }

  Block(Budget& budget, std::uint32_t capacity)
      : capacity_(capacity),
        bytes_(std::make_unique_for_overwrite<char[]>(capacity)),
        budget_(budget) {
    budget_.charge(charged());
  }
  ~Block() { budget_.release(charged()); }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  char* data() { return bytes_.get(); }
  const char* data() const { return bytes_.get(); }
  std::uint32_t capacity() const { return capacity_; }
  // What the block has charged to the budget.
  std::uint64_t charged() const { return heap_bytes(capacity_) + kOverhead; }
  // The same for this budget alone.
  std::uint64_t charged_to(const Budget& budget) const {
    return &budget_ == &budget ? charged() : 0;
  }

 private:
  // This object, and what the allocator notes of both allocations. A body of several blocks has a
  // slice for each, too, which costs a thousandth of a block of 64 KiB.
  static constexpr std::uint64_t kOverhead = 40;

  const std::uint32_t capacity_;
  const std::unique_ptr<char[]> bytes_;
  Budget& budget_;
};

}  // namespace proxy::cache
