// Response bodies: lists of shared, counted pieces of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "proxy/cache/budget.hpp"

namespace proxy::cache {

// A buffer of fixed capacity, charged to its budget while it exists. Not zeroed. One writer fills
// it from the front. Published bytes (in a Slice, or in whatever the writer shows its readers under
// a lock) never change, so readers need no lock for them.
class Block {
 public:
  Block(Budget& budget, std::uint32_t capacity)
      : capacity_(capacity),
        bytes_(std::make_unique_for_overwrite<char[]>(capacity)),
        charge_(budget, capacity + kOverhead) {}

  char* data() { return bytes_.get(); }
  const char* data() const { return bytes_.get(); }
  std::uint32_t capacity() const { return capacity_; }
  // What the block has charged to the budget.
  std::uint64_t charged() const { return charge_.bytes(); }
  // The same for this budget alone.
  std::uint64_t charged_to(const Budget& budget) const {
    return charge_.is_for(budget) ? charge_.bytes() : 0;
  }

 private:
  // This object, its reference counts, malloc's overhead for two allocations, and its slice in the
  // growing list of a body.
  static constexpr std::uint64_t kOverhead = 144;

  const std::uint32_t capacity_;
  const std::unique_ptr<char[]> bytes_;
  const Charge charge_;
};

// The first `size` bytes of a block.
struct Slice {
  std::shared_ptr<const Block> block;
  std::uint32_t size = 0;
};

struct Body {
  std::vector<Slice> slices;
  std::uint64_t size = 0;  // total size of all slices
};

}  // namespace proxy::cache
