// The slices of a body on its way.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>

#include "proxy/cache/block.hpp"

namespace proxy {

// Numbers the slices from 0 in the order of their arrival. The oldest may be dropped. Not
// thread-safe.
class ArrivedSlices {
 public:
  // `size`: bytes of `block` that are filled by now. The block is the last one appended, or a new
  // one.
  void append(const std::shared_ptr<const cache::Block>& block, std::uint32_t size) {
    if (slices_.empty() || slices_.back().block != block) {
      slices_.push_back({block, size});
      bytes_ += size;
    } else {
      bytes_ += size - slices_.back().size;
      slices_.back().size = size;
    }
  }

  void clear() {
    slices_.clear();
    bytes_ = 0;
  }

  // Drops the slices with lower numbers. The last slice stays: the writer may still be adding to
  // its block.
  void drop_before(std::size_t number) {
    while (dropped_ < number && slices_.size() > 1) {
      slices_.pop_front();
      ++dropped_;
    }
  }

  // The slice must have arrived and must not have been dropped.
  const cache::Slice& operator[](std::size_t number) const { return slices_[number - dropped_]; }
  // The number of the next slice to arrive.
  std::size_t next() const { return dropped_ + slices_.size(); }
  // Bytes arrived, those of dropped slices included.
  std::uint64_t bytes() const { return bytes_; }
  // The memory that the slices from this number on take.
  std::uint64_t charged_from(std::size_t number) const {
    std::uint64_t charged = 0;
    for (auto at = number - dropped_; at < slices_.size(); ++at) {
      charged += slices_[at].block->charged();
    }
    return charged;
  }
  // All slices; only while none was dropped.
  cache::Body body() const { return {{slices_.begin(), slices_.end()}, bytes_}; }

 private:
  std::deque<cache::Slice> slices_;
  std::size_t dropped_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace proxy
