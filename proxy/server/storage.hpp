// The store, the disk below it, and the fills and runs under way.
#pragma once

#include <memory>

#include "config/settings.hpp"
#include "proxy/blocks/block_runs.hpp"
#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/fill/fills.hpp"
#include "proxy/observe/watch.hpp"
#include "proxy/server/keepers.hpp"
#include "proxy/tiers/placement.hpp"

namespace proxy {

// Creates cache.disk.path, and the folders above it, where they are missing. Says why it cannot:
// the cache on disk then rests. Call this before the sandbox, which ties rights to folders.
void make_cache_folder(const config::CacheSettings& settings);

struct Storage {
  // Opens the disk; throws std::exception with a text for a person.
  // `in_use`: see open_disk(). The clock outlives the storage.
  Storage(const config::Settings& settings, machine::Clock& clock,
          cache::DiskTier::InUse in_use = cache::DiskTier::InUse::fails);

  // Adapts to other sizes. Memory is lowered in steps, so that no request has to make much room.
  // For one thread, which may be busy for a while; others may use the storage meanwhile.
  void follow(const config::Settings& settings);
  // Keeps in memory what is under way, and little else: no more requests are to come. As follow().
  void give_up_memory();
  // Limits what memory holds to `bytes`. Bodies that are passed on get their share beside that. As
  // follow().
  void limit_memory(std::uint64_t bytes);

  threads::Alarm newly_claimed;  // our digest changes
  Keepers keepers;
  cache::Budget budget;
  cache::Budget transit;                  // for bodies that are passed on unstored
  std::unique_ptr<cache::DiskTier> disk;  // null: no disk is configured
  cache::Store store;
  Placement placement;
  Fills fills;
  BlockRuns runs;
  DiskWatch watch;
};

}  // namespace proxy
