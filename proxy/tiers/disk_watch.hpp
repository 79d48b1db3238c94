// What the log says of the disk.
#pragma once

#include <string>

#include "proxy/cache/disk_tier.hpp"

namespace proxy {

// Logs each change of the disk's state: that it rests, that it works again, and once each that
// memory is too small for its index or the file system too small for its size. One thread calls
// look() regularly; each call also lets the disk charge the memory that its index takes.
class DiskWatch {
 public:
  // `disk`: null if there is none.
  explicit DiskWatch(cache::DiskTier* disk) : disk_(disk) {}
  void look();

 private:
  cache::DiskTier* disk_;
  bool working_ = true;
  bool crowded_ = false;
  bool squeezed_ = false;
};

// Opens the directory `path` (setting cache.disk) and logs what is stored there. Throws
// std::runtime_error, with a text for the operator, if the settings have to be changed. Any other
// fault of the disk is logged, and the disk is tried again while the program runs.
void open_disk(cache::DiskTier& disk, const std::string& path);

}  // namespace proxy
