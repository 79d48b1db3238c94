// The cache of the process: memory and, if the settings name one, a disk below it.
#pragma once

#include <atomic>
#include <cstdint>

#include "proxy/cache/disk_tier/checked_bodies.hpp"
#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/crowd/pressure.hpp"
#include "proxy/fill/fills.hpp"
#include "proxy/machine/channel.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/tiers/placement.hpp"

namespace proxy {

// What the functions of tiers.hpp, object_blocks.hpp and file_body.hpp need of the process. Any
// thread; whatever it refers to outlives it.
struct Cache {
  machine::Clock& clock;
  cache::Budget& budget;  // of responses that are stored, or arriving to be stored
  cache::Store& store;
  cache::DiskTier* disk = nullptr;  // null: no disk is configured
  Placement* placement = nullptr;   // null: all duplicates are stored
  Fills& fills;                     // know what was purged while it was fetched
  // Has to forget, too, once the disk is its own.
  succession::Successor& successor;
  net::Executor aside;  // the thread that scans memory
  // The setting cache.max_object for bodies in blocks; a reload may change it.
  std::atomic<std::uint64_t> max_object{UINT64_MAX};
  // After allocations have failed: the limit of `budget` that the settings give; else 0.
  std::atomic<std::uint64_t> reduced_from{0};
  LastTime found_no_room{};  // to store a response, though all that can be evicted was
};

// The cache as one I/O thread reads it. Belongs to that thread.
struct CacheAccess {
  Cache& cache;
  net::Executor executor;  // of the thread
  cache::CheckedBodies checked_bodies{};
};

}  // namespace proxy
