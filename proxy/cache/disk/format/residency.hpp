// Which bytes of a file are in the page cache.
#pragma once

#include <cstdint>
#include <mutex>

#include "proxy/cache/disk/format/file.hpp"

namespace proxy::cache::disk {

// Asks mincore(2), which needs a mapping of the file. Nothing ever reads the mapping, so it takes
// addresses but no memory, and a file that becomes shorter does no harm. It is made when it is
// first needed. Any thread.
class Residency {
 public:
  // The file outlives this object. No offset of the file reaches kMaxSegmentBytes.
  explicit Residency(const File& file) : file_(file) {}
  ~Residency();
  Residency(const Residency&) = delete;
  Residency& operator=(const Residency&) = delete;

  // Whether all of these bytes are in the page cache now. False also if the system does not tell.
  bool has(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  const File& file_;
  mutable std::once_flag mapped_;
  mutable void* mapping_ = nullptr;  // null: the system refused to map the file
};

}  // namespace proxy::cache::disk
