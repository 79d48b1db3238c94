// The text about the disk in /metrics.
#pragma once

#include <string>

#include "proxy/cache/disk_tier/disk_tier.hpp"

namespace proxy {

// Appends lines of /metrics; none without a disk.
void append_disk_metrics(std::string& out, const cache::DiskTier* disk);

}  // namespace proxy
