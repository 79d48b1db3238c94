// Response bodies: lists of shared, counted pieces of memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <utility>
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
        charge_(budget, heap_bytes(capacity) + kOverhead) {}

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
  // This object and its reference counts, and what the allocator notes of both allocations. A body
  // of several blocks has a slice for each, too, which costs a thousandth of a block of 64 KiB.
  static constexpr std::uint64_t kOverhead = 64;

  const std::uint32_t capacity_;
  const std::unique_ptr<char[]> bytes_;
  const Charge charge_;
};

// The first `size` bytes of a block.
struct Slice {
  std::shared_ptr<const Block> block;
  std::uint32_t size = 0;
};

// Slices in order. Nearly every stored body has one, which needs no memory of its own.
class Slices {
 public:
  Slices() = default;
  Slices(std::initializer_list<Slice> slices) : Slices(slices.begin(), slices.end()) {}
  template <class Iterator>
  Slices(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(*first);
  }
  Slices(const Slices& other) : Slices(other.begin(), other.end()) {}
  Slices(Slices&&) = default;
  Slices& operator=(const Slices& other) { return *this = Slices(other); }
  Slices& operator=(Slices&&) = default;
  ~Slices() = default;

  void push_back(Slice slice) {
    if (empty()) {
      only_ = std::move(slice);
      return;
    }
    if (!several_) several_ = std::make_unique<std::vector<Slice>>(1, std::exchange(only_, {}));
    several_->push_back(std::move(slice));
  }

  [[nodiscard]] bool empty() const { return !several_ && !only_.block; }
  [[nodiscard]] const Slice* begin() const { return several_ ? several_->data() : &only_; }
  [[nodiscard]] const Slice* end() const {
    if (several_) return several_->data() + several_->size();
    return only_.block ? &only_ + 1 : &only_;
  }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(end() - begin()); }
  const Slice& operator[](std::size_t number) const { return begin()[number]; }
  // There is one at least.
  [[nodiscard]] const Slice& front() const { return *begin(); }
  Slice& back() { return several_ ? several_->back() : only_; }

 private:
  Slice only_;  // without a block unless there is exactly one slice
  std::unique_ptr<std::vector<Slice>> several_;
};

struct Body {
  Slices slices;
  std::uint64_t size = 0;  // total size of all slices
};

}  // namespace proxy::cache
