// The slices of a body on its way.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "proxy/cache/body.hpp"

namespace proxy {

// Numbers the slices from 0 in the order of their arrival. The oldest may be dropped. Not
// thread-safe.
class ArrivedSlices {
 public:
  // `size`: bytes of `block` that are filled by now, perhaps none. The block is the last one
  // appended, or a new one.
  void append(const cache::Ref<const cache::Block>& block, std::uint32_t size) {
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
    if (number <= dropped_ || slices_.size() < 2) return;
    const auto many = std::min(number - dropped_, slices_.size() - 1);
    slices_.erase(slices_.begin(), slices_.begin() + static_cast<std::ptrdiff_t>(many));
    dropped_ += many;
  }

  // The slice must have arrived and must not have been dropped.
  const cache::Slice& operator[](std::size_t number) const { return slices_[number - dropped_]; }
  // The number of the next slice to arrive.
  std::size_t next() const { return dropped_ + slices_.size(); }
  // Bytes arrived, those of dropped slices included.
  std::uint64_t bytes() const { return bytes_; }
  // The memory that the slices from this number on take, and the part that is charged to `budget`.
  struct Charged {
    std::uint64_t bytes = 0;
    std::uint64_t to_budget = 0;
  };
  Charged charged_from(std::size_t number, const cache::Budget& budget) const {
    Charged charged;
    for (auto at = number - dropped_; at < slices_.size(); ++at) {
      charged.bytes += slices_[at].block->charged();
      charged.to_budget += slices_[at].block->charged_to(budget);
    }
    return charged;
  }
  // All slices that have bytes; only while none was dropped.
  cache::Body body() const {
    const bool last_is_empty = !slices_.empty() && slices_.back().size == 0;
    return {{slices_.begin(), slices_.end() - (last_is_empty ? 1 : 0)}, bytes_};
  }

 private:
  // Most bodies have one slice. A window drops slices while it has few (Fill::kWindow).
  boost::container::small_vector<cache::Slice, 1> slices_;
  std::size_t dropped_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace proxy
