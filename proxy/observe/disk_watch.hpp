// What the diagnostic log says of the disk.
#pragma once

#include <string>

#include "proxy/cache/disk_tier.hpp"

namespace proxy {

// For one thread that comes by regularly: says in the log once that the disk rests, once that it is
// back, and once that memory is too small for its index, or the file system for its size, and lets
// it charge what it takes.
class DiskWatch {
 public:
  // Null: there is none.
  explicit DiskWatch(cache::DiskTier* disk) : disk_(disk) {}
  void look();

 private:
  cache::DiskTier* disk_;
  bool working_ = true;
  bool crowded_ = false;
  bool squeezed_ = false;
};

// Opens the directory of the setting cache.disk and says in the log what was found there. Throws
// std::runtime_error with a text for a person where the settings have to be changed; whatever else
// is wrong with the disk, or takes long, it is tried again while we run.
void open_disk(cache::DiskTier& disk, const std::string& path);

}  // namespace proxy
