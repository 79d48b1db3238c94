// What every thread may read of the cache on disk, and how a start learns it from the log.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "digest/key.hpp"
#include "proxy/cache/disk/format.hpp"
#include "proxy/cache/disk/index.hpp"
#include "proxy/cache/disk/purge_rules.hpp"
#include "proxy/cache/disk/segments.hpp"
#include "proxy/machine/clock.hpp"

namespace proxy::cache::disk {

// Several keys share one counter. So a key without operations may seem to have some, but a key with
// operations never seems to have none. Any thread.
class KeyCounts {
 public:
  static std::size_t slot_of(const digest::Key& key) { return digest::part_of(key, kSlots); }

  void add(const digest::Key& key) { counts_[slot_of(key)].fetch_add(1); }
  void subtract(std::size_t slot) { counts_[slot].fetch_sub(1); }
  bool any(const digest::Key& key) const { return counts_[slot_of(key)].load() > 0; }

 private:
  static constexpr std::size_t kSlots = 4096;

  std::array<std::atomic<std::uint32_t>, kSlots> counts_{};
};

// The counters of the disk, one member per number of the disk in /metrics. Any thread counts and
// reads.
using Count = std::atomic<std::uint64_t>;

struct WriteCounters {
  // Bytes written. Their sum divided by `stored_bytes` is the write amplification.
  Count stored_bytes = 0;      // records that callers queued, purges included
  Count reinserted_bytes = 0;  // records copied out of a segment before it was reclaimed
  Count overhead_bytes = 0;    // headers and footers of segments, records of searches

  Count stored = 0;      // records
  Count reinserted = 0;  // entries copied
};

struct SpaceCounters {
  Count evicted = 0;       // entries lost with a reclaimed segment
  Count duplicates = 0;    // entries not copied, because another cache keeps them
  Count reclaimed = 0;     // segments
  Count crowded_out = 0;   // segments reclaimed because the index was full; the disk was not
  Count squeezed_out = 0;  // segments reclaimed because others filled the file system
  Count purged = 0;        // entries removed by the search for purges by prefix
};

struct FaultCounters {
  Count refused_busy = 0;     // records refused: too much waits to be written
  Count refused_resting = 0;  // records refused: the disk rested
  Count failed_writes = 0;    // records that were queued but could not be written
  Count corrupt = 0;          // entries dropped: a checksum did not match
  Count failed_reads = 0;     // reads that the system refused
  Count slow_reads = 0;       // reads given up: the disk did not answer in time
  Count lost = 0;             // times that the directory or its content vanished
};

struct Counters : WriteCounters, SpaceCounters, FaultCounters {
  using Count = disk::Count;
};

// Each member may be used by any thread. The writer's thread alone adds what it has written; other
// threads erase from the index and add purge rules.
struct Catalog {
  // The clock outlives the catalog.
  explicit Catalog(machine::Clock& its_clock, std::uint32_t origin = 0,
                   PurgeRules::Reading reading = PurgeRules::as_prefix,
                   RecordTimes::Time started = RecordTimes::Time::max(), std::uint32_t run = 0)
      : clock(its_clock), index(origin), segments(started, run), rules(std::move(reading)) {}

  // Call this when wall time is ahead of the clock by `ahead` (RecordTimes). Returns whether the
  // ages of records of earlier runs have changed, and with them their claims. If so, the call looks
  // at all entries of the index. For one thread at a time.
  bool apply_clock(std::chrono::milliseconds ahead);

  machine::Clock& clock;

  Index index;
  Segments segments;
  PurgeRules rules;
  Counters counters;
  // The index has every entry of the directory. While false, look-ups find nothing.
  std::atomic<bool> ready = false;
  // The log may have records that the index lacks: after a failure, or after a start that could not
  // read every segment. While true, a purge is written even if the index lacks the entry.
  std::atomic<bool> log_has_more = false;
  std::atomic<std::uint64_t> used_bytes = 0;  // disk space of all segments
  std::atomic<bool> squeezed = false;         // see SegmentFiles::is_squeezed()
  KeyCounts unwritten;                        // queued records
  // Queued purges. A record that was queued earlier may still be added to the index; until the
  // purge is written, the key must not be found.
  KeyCounts purging;
};

// Builds the index and the purge rules from the records of the log. For one thread. The
// constructor's arguments must outlive the learner.
class Learner {
 public:
  Learner(Index& index, const Segments& segments, PurgeRules& rules)
      : index_(index), segments_(segments), rules_(rules) {}

  // Call this with all records of each segment, in the order of the log. `segments` must have the
  // segment already, because some records are read again.
  void learn(std::span<const Listed> records, std::uint32_t segment);
  // Forgets all entries: some purges are lost, so no earlier record counts.
  void forget_all();
  // Call this after the last record: purges by prefix whose search is not complete become rules.
  void finish();

 private:
  // At this number the waiting purges are read at once, though a later record may show that their
  // search is complete. This bounds the memory.
  static constexpr std::size_t kMostWaiting = 65'536;

  // A record that is not of one key.
  void learn(const Location& place);
  void learn_searched(const Location& place);

  Index& index_;
  const Segments& segments_;
  PurgeRules& rules_;
  std::vector<Position> waiting_;  // purges by prefix, not read yet
};

}  // namespace proxy::cache::disk
