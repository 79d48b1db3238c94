// The cache of the process: memory and, if the settings name one, a disk below it, which may take
// long or hang.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "proxy/cache/disk_tier/checked_bodies.hpp"
#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/crowd/pressure.hpp"
#include "proxy/fill/fills.hpp"
#include "proxy/machine/channel.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/tiers/placement.hpp"

namespace proxy::tiers {

// What the functions of tiers.hpp, object_blocks.hpp and file_body.hpp need of the process. Any
// thread; whatever it refers to outlives it.
struct Cache {
  machine::Clock& clock;
  cache::Budget& budget;  // of responses that are stored, or arriving to be stored
  cache::Store& store;
  cache::DiskTier* disk = nullptr;  // null: no disk is configured
  Placement* placement = nullptr;   // null: all duplicates are stored
  fill::Fills& fills;               // know what was purged while it was fetched
  // Has to forget, too, once the disk is its own.
  machine::succession::Successor& successor;
  net::Executor aside;  // the thread that scans memory
  // The setting cache.max_object for bodies in blocks; a reload may change it.
  std::atomic<std::uint64_t> max_object{UINT64_MAX};
  // After allocations have failed: the limit of `budget` that the settings give; else 0.
  std::atomic<std::uint64_t> reduced_from{0};
  crowd::LastTime found_no_room{};  // to store a response, though all that can be evicted was
};

// The cache as one I/O thread reads it. Belongs to that thread.
struct CacheAccess {
  Cache& cache;
  net::Executor executor;  // of the thread
  cache::CheckedBodies checked_bodies{};
};

template <class T>
struct WaitingRead {
  WaitingRead(net::Executor executor, std::function<cache::disk::Result<T>()> its_read)
      : read(std::move(its_read)), done(executor) {}

  const std::function<cache::disk::Result<T>()> read;
  cache::disk::Result<T> result = cache::disk::Error::busy;
  net::Wakeup done;
  std::atomic<bool> given_up = false;
};

// Calls `read` on a thread that may wait for the disk. Returns its result; `busy` if too many reads
// wait already; `hangs` if the disk does not answer within DiskTier::kReadLimit. After `hangs` the
// call may still be under way, so `read` owns all objects that it uses, except those that outlive
// the workers.
template <class T>
net::Task<cache::disk::Result<T>> read_in_time(CacheAccess& access,
                                               std::function<cache::disk::Result<T>()> read) {
  using cache::disk::Error;
  auto& tier = *access.cache.disk;
  if (tier.hangs()) co_return Error::hangs;
  const auto waiting = std::make_shared<WaitingRead<T>>(access.executor, std::move(read));
  const auto posted = tier.post([waiting] {
    if (waiting->given_up) return;
    waiting->result = waiting->read();
    waiting->done.notify();
  });
  if (posted == cache::DiskTier::Posted::too_many) co_return Error::busy;
  const auto woken = co_await waiting->done.wait(cache::DiskTier::kReadLimit);
  if (woken == net::Wakeup::Woken::notified) co_return std::move(waiting->result);
  waiting->given_up = true;
  tier.disk().catalog().counters.slow_reads += 1;
  co_return Error::hangs;
}

}  // namespace proxy::tiers
