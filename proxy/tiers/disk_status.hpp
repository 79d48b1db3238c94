// What /health and /metrics say of the disk.
#pragma once

#include <string>

#include "proxy/cache/disk_tier.hpp"

namespace proxy {

// ,"disk":{...} for the JSON of /health; empty if there is no disk.
std::string disk_health(const cache::DiskTier* disk);
// Appends lines for /metrics; none if there is no disk.
void append_disk_metrics(std::string& out, const cache::DiskTier* disk);

}  // namespace proxy
