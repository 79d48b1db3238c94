// Which bytes of a file are in the page cache.
#pragma once

#include <cstdint>
#include <mutex>

#include "proxy/cache/disk/format/file.hpp"

namespace proxy::cache::disk {

// Asks cachestat(2) (Linux 6.5), which counts pages that are being read, too. Where the system
// lacks it, asks mincore(2), which takes several times as long and needs a mapping of the file.
// Nothing ever reads the mapping, so it takes addresses but no memory, and a file that becomes
// shorter does no harm. It is made when it is first needed. Any thread.
class Residency {
 public:
  // The file outlives this object. No offset of the file reaches kMaxSegmentBytes.
  explicit Residency(const File& file) : file_(file) {}
  ~Residency();
  Residency(const Residency&) = delete;
  Residency& operator=(const Residency&) = delete;

  // Whether all of these bytes are in the page cache now. False also if the system does not tell.
  bool has(std::uint64_t offset, std::uint64_t bytes) const;
  // The same by mincore(). Public for tests.
  bool has_by_mapping(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  const File& file_;
  mutable std::once_flag mapped_;
  mutable void* mapping_ = nullptr;  // null: the system refused to map the file
};

}  // namespace proxy::cache::disk
