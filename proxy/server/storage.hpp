// The store, the disk below it, and the fills and runs under way; and memory that the store gives
// up when allocations fail.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <memory>
#include <utility>

#include "config/settings.hpp"
#include "peers/directory.hpp"
#include "peers/publisher.hpp"
#include "peers/snapshot.hpp"
#include "proxy/blocks/block_runs.hpp"
#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/fill/fills.hpp"
#include "proxy/machine/memory.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/observe/watch.hpp"
#include "proxy/tiers/cache.hpp"
#include "proxy/tiers/placement.hpp"

namespace proxy::server {

// Creates cache.disk.path, and the folders above it, where they are missing. If it cannot, logs the
// reason, and the cache on disk rests. Call this before the sandbox, which ties rights to folders.
void make_cache_folder(const config::CacheSettings& settings);

// Which of the responses stored here a neighbour keeps, too. The cache asks this before it evicts.
// The neighbours change with the settings.
class Keepers {
 public:
  // The clock outlives this object.
  explicit Keepers(const machine::Clock& clock) : clock_(clock) {}

  // `publisher`: of our digest; outlives the threads that ask. One thread at a time.
  void apply(std::shared_ptr<const peers::PeerDirectory> directory,
             const peers::Publisher& publisher) {
    known_.replace(std::make_unique<const Known>(Known{std::move(directory), &publisher}));
  }

  // Whether the response is kept elsewhere: see PeerDirectory::is_kept_elsewhere(). Any thread may
  // call this; it never waits.
  bool elsewhere(const digest::Claim& claim) const {
    return known_.read([&](const Known& known) {
      return known.directory &&
             known.directory->is_kept_elsewhere(claim.key, known.publisher->epoch(),
                                                clock_.steady(), claim.rule);
    });
  }

 private:
  struct Known {
    std::shared_ptr<const peers::PeerDirectory> directory;  // null: no neighbours yet
    const peers::Publisher* publisher = nullptr;
  };

  const machine::Clock& clock_;
  peers::Snapshot<Known> known_{std::make_unique<const Known>()};
};

struct Storage {
  // Opens the disk; throws std::exception with a text for a person.
  // `in_use`: see open_disk(). The clock outlives the storage.
  using InUse = cache::DiskTier::InUse;
  Storage(const config::Settings& settings, machine::Clock& clock, InUse in_use = InUse::fails);

  // Adapts to other sizes. Memory is lowered in steps, so that no request has to make much room.
  // For one thread, which may be busy for a while; others may use the storage meanwhile.
  void apply(const config::Settings& settings);
  // Gives up nearly all memory but that of requests under way, because no others will arrive. One
  // thread at a time, as with apply().
  void give_up_memory();
  // Limits what memory holds to `bytes`. Bodies that are passed on get their share beside that. As
  // apply().
  void limit_memory(std::uint64_t bytes);

  // Ends writing to the disk, for a successor. Returns whether the disk answered.
  bool release_disk() { return !disk || disk->release(); }
  // Begins to write to the disk again, if the successor failed after release_disk().
  void take_disk_back(const config::Settings& settings, const machine::Clock& clock);
  // Stops the disk as DiskTier::stop() does. Returns whether the disk answered.
  [[nodiscard]] bool stop_disk();
  [[nodiscard]] std::size_t entries_on_disk() const;

  threads::Alarm newly_claimed;  // our digest changes
  Keepers keepers;
  cache::Budget budget;
  cache::Budget transit;                  // for bodies that are passed on unstored
  std::unique_ptr<cache::DiskTier> disk;  // null: no disk is configured
  cache::Store store;
  tiers::Placement placement;
  fill::Fills fills;
  blocks::BlockRuns runs;
  observe::DiskWatch watch;
};

// The settings may promise memory that the process does not get. Once an allocation has failed, the
// cache gives up an eighth of what it holds, and holds no more than that. If no limit of the
// process is the cause, the shortage may pass, so the cache grows again bit by bit. /health says so
// as long as the cache is smaller than the settings say. For the thread aside, except as said.
class GivingWay {
 public:
  // All references outlive this object. The main thread calls this.
  GivingWay(net::asio::io_context& aside, Storage& storage, tiers::Tiers& tiers);

  // Begins to look out for allocations that fail. The main thread calls this before `aside` runs.
  void start();
  // Call this when new sizes apply. The failures of the old ones no longer count.
  void begin_anew();

 private:
  void await_failure();
  void give_way();
  void grow_later();
  void grow();

  Storage& storage_;
  tiers::Tiers& tiers_;
  machine::memory::Reserve reserve_;
  net::asio::posix::stream_descriptor failed_;
  net::Timer calm_;
};

}  // namespace proxy::server
