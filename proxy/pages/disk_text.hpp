// The text about the disk in /health and /metrics.
#pragma once

#include <string>

#include "proxy/cache/disk_tier/disk_tier.hpp"

namespace proxy {

// The member ,"disk":{...} for the JSON of /health; empty without a disk.
std::string disk_health(const cache::DiskTier* disk);
// Appends lines of /metrics; none without a disk.
void append_disk_metrics(std::string& out, const cache::DiskTier* disk);

}  // namespace proxy
