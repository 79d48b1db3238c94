// Response bodies: lists of shared, counted pieces of memory.
#pragma once

#include <boost/core/noncopyable.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "proxy/cache/budget.hpp"

namespace proxy::cache {

// Shared ownership in 8 bytes, half the size of std::shared_ptr<T>: the object counts its
// references itself, in 4 bytes, where std::make_shared() adds 16.
template <class T>
using Ref = boost::intrusive_ptr<T>;

// The base of such an object. Any thread may copy and destroy references to it.
template <class T>
using Counted = boost::intrusive_ref_counter<T, boost::thread_safe_counter>;

// A buffer of fixed capacity, charged to its budget while it exists. Not zeroed. One writer fills
// it from the front. Published bytes (in a Slice, or in whatever the writer shows its readers under
// a lock) never change, so readers need no lock for them.
class Block : public Counted<Block>, boost::noncopyable {
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

  char* data() { return bytes_.get(); }
  const char* data() const { return bytes_.get(); }
  std::uint32_t capacity() const { return capacity_; }
  // What the block has charged to the budget.
  std::uint64_t charged() const { return heap_bytes(capacity_) + kOverhead; }
  // Returns charged() if the block is charged to this budget, else 0.
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

// The first `size` bytes of a block.
struct Slice {
  Ref<const Block> block;
  std::uint32_t size = 0;
};

// A slice without a reference. Valid while the Slices that returned it are unchanged.
struct SliceView {
  operator Slice() const { return {block, size}; }

  const Block* block;
  std::uint32_t size;
};

// Slices in order, in 16 bytes. Nearly every stored body has one, which needs no more memory.
class Slices {
 public:
  class Iterator {
   public:
    using value_type = SliceView;
    using reference = SliceView;
    using pointer = void;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    Iterator(const Slices& of, std::size_t at) : of_(&of), at_(at) {}
    SliceView operator*() const { return (*of_)[at_]; }
    Iterator& operator++() { return ++at_, *this; }
    bool operator==(const Iterator&) const = default;

   private:
    const Slices* of_;
    std::size_t at_;
  };

  Slices() = default;
  Slices(std::initializer_list<Slice> slices) : Slices(slices.begin(), slices.end()) {}
  template <class Source>
  Slices(Source first, Source last) {
    for (; first != last; ++first) push_back(*first);
  }
  Slices(const Slices& other) : Slices(other.begin(), other.end()) {}
  Slices(Slices&& other) noexcept { swap(other); }
  Slices& operator=(Slices other) noexcept { return swap(other), *this; }
  ~Slices() {
    if (several_)
      delete list_;
    else if (only_)
      intrusive_ptr_release(only_);
  }

  void push_back(Slice slice);
  // Puts a slice in the place of the last one. There is one at least.
  void replace_back(Slice slice);

  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, size()}; }
  [[nodiscard]] std::size_t size() const {
    if (several_) return list_->size();
    return only_ ? 1 : 0;
  }
  SliceView operator[](std::size_t number) const {
    if (!several_) return {only_, only_size_};
    const Slice& slice = (*list_)[number];
    return {slice.block.get(), slice.size};
  }
  // The first slice. The body must not be empty.
  [[nodiscard]] SliceView front() const { return (*this)[0]; }
  [[nodiscard]] SliceView back() const { return (*this)[size() - 1]; }

 private:
  void swap(Slices& other) noexcept {
    std::swap(only_, other.only_);
    std::swap(only_size_, other.only_size_);
    std::swap(several_, other.several_);
  }

  union {
    const Block* only_ = nullptr;  // owned; null: no slice
    std::vector<Slice>* list_;     // owned; of several slices
  };
  std::uint32_t only_size_ = 0;
  bool several_ = false;  // whether list_ is the member in use
};

inline void Slices::push_back(Slice slice) {
  if (empty()) {
    only_size_ = slice.size;
    only_ = slice.block.detach();
    return;
  }
  if (!several_) {
    auto list = std::make_unique<std::vector<Slice>>();
    list->reserve(2);
    list->push_back({Ref<const Block>(only_, false), only_size_});
    list_ = list.release();
    several_ = true;
  }
  list_->push_back(std::move(slice));
}

inline void Slices::replace_back(Slice slice) {
  if (several_) {
    list_->back() = std::move(slice);
    return;
  }
  *this = Slices();
  push_back(std::move(slice));
}

struct Body {
  Slices slices;
  std::uint64_t size = 0;  // total size of all slices
};

}  // namespace proxy::cache
