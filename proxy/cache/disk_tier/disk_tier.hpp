// The disk under the memory.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "proxy/cache/disk/disk.hpp"
#include "proxy/cache/disk/read_pool.hpp"
#include "proxy/cache/disk_tier/admission.hpp"
#include "proxy/cache/disk_tier/disk_blocks.hpp"
#include "proxy/cache/disk_tier/entry_reader.hpp"
#include "proxy/cache/disk_tier/entry_writer.hpp"
#include "proxy/cache/disk_tier/readings.hpp"
#include "proxy/cache/disk_tier/selectors.hpp"
#include "proxy/cache/store.hpp"

namespace proxy::cache {

struct DiskLimits {
  std::filesystem::path path;
  std::uint64_t bytes = 0;
  std::uint32_t segment_bytes = std::uint32_t{64} << 20;  // at most: see disk::kWantedSegments
  bool admit_on_second = false;                           // see Admission
};

// How many segment files, and so descriptors, a cache of this size has.
std::uint64_t segments_of(std::uint64_t bytes);

// Responses are written behind, and those that memory lacks are read back. Whole responses and
// large objects only. The index takes at most half of the budget: beyond that the oldest segments
// are reclaimed. Any thread; of what several threads put and purge under one key, the last counts.
class DiskTier {
 public:
  // How long a request waits for a read from the disk. Then it goes on without.
  static constexpr std::chrono::milliseconds kReadLimit{2'000};

  // `reading`: which URLs a purge by prefix covers.
  DiskTier(Budget& budget, DiskLimits limits, disk::PurgeRules::Reading reading);

  // As Disk::start().
  disk::Result<disk::Loaded> start() { return disk_.start(); }
  // Entries that were used in this memory count as used when space is reclaimed, from now on.
  // Variants count only by look-ups on disk. The memory outlives the tier, or stop().
  void sit_under(const Store& memory) { memory_ = &memory; }
  enum class Stopped : std::uint8_t {
    yes,
    hangs,  // the disk does not answer: a job or `done` may still run; only the process can end
  };
  // Ends reads, and writes what waits. No job and no `done` runs afterwards.
  [[nodiscard]] Stopped stop();
  // As Disk::state(); rests also while reads hang.
  disk::State state() const;

  // Whether read() may find something: one look-up, under one lock.
  bool may_have(const disk::Key& url_key) const {
    return disk_.catalog().index.find(url_key).has_value();
  }
  // Reads what answers a request with these fields, checks it, charges its bytes, and makes room
  // for them in `memory`, which does not have it yet. `would_block`: read again with Wait::yes, as
  // a job of post(). `corrupt`: the record is dropped, which is worth a line in the log. After
  // other errors nothing is found.
  disk::Result<ReadBack> read(const disk::Key& url_key, std::string_view url,
                              const http::Fields& request, Store& memory, disk::Wait wait);
  // Whether the same would be found now: false where it was purged or replaced since.
  bool still_found(const ReadBack& read, std::string_view url) const;
  // Reads that wait for the disk, one at a time for each key.
  Readings& readings() { return readings_; }
  // Runs the job on a thread that may wait for the disk. False: too many jobs wait.
  [[nodiscard]] bool post(disk::ReadPool::Job job) { return pool_->post(std::move(job)); }
  // Whether a read takes longer than kReadLimit. Nothing should be read until it ends.
  bool hangs() const { return pool_->hangs(kReadLimit); }

  Admission& admission() { return admission_; }
  const Admission& admission() const { return admission_; }
  // Whether a response of this URL may be put: it is admitted, or replaces one that is on disk.
  bool admits(const disk::Key& url_key) const {
    return admission_.admits(url_key) || may_have(url_key);
  }
  // Bytes of the longest body that put() takes in one piece.
  std::uint64_t most_whole() const { return writer_.most_whole(); }

  // Queues the entry in place of what the same requests select. `superseded`: the entry of which
  // this may be only a newer head. `stored_above` puts the entry into memory if it still may be
  // stored; where it returns false, put() does nothing and returns false. It is called under a lock
  // that purge() takes, too: so no purge comes between memory and disk, and both have the same last
  // entry. An entry that cannot be written (a part, too large, the queue full) still ends the old
  // one.
  bool put(const disk::Key& url_key, const std::shared_ptr<const Entry>& entry,
           const Entry* superseded, const std::function<bool()>& stored_above);

  // Whether segments have room for blocks of large objects.
  bool takes_blocks() const { return disk_.most_bytes() >= kBlockBytes + EntryWriter::kFixed; }
  std::uint64_t new_version() { return disk_.new_version(); }
  // Whether the block is on disk, or about to be.
  bool has_block(const disk::Key& block_key) const {
    return blocks_.unwritten(block_key) || (disk_.catalog().index.find(block_key) && !hangs());
  }
  DiskBlocks& blocks() { return blocks_; }

  // Purges all variants. True: `done` is told when the purge is written. False: nothing was there.
  bool purge(const disk::Key& url_key, disk::Done done);
  // Purges all that the text covers. `busy`: too many such purges are under way.
  disk::Result<void> purge_all(std::string_view text, disk::Done done);

  // Charges what index, rules and queue take now to the budget. For one thread, regularly.
  void charge();

  disk::Disk& disk() { return disk_; }
  const disk::Disk& disk() const { return disk_; }

 private:
  Budget& budget_;
  std::atomic<const Store*> memory_ = nullptr;
  Admission admission_;
  EntryReader reader_{budget_, disk_};
  EntryWriter writer_{disk_};
  Selectors selectors_;
  DiskBlocks blocks_{budget_, disk_, reader_};
  disk::Disk disk_;  // its writer's thread ends first: `done` may use all above
  std::uint64_t charged_ = 0;
  Readings readings_;
  std::optional<disk::ReadPool> pool_{std::in_place};
};

}  // namespace proxy::cache
