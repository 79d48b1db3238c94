// What every thread may read of the cache on disk.
#pragma once

#include <atomic>
#include <cstdint>

#include "proxy/cache/disk/catalog/counters.hpp"
#include "proxy/cache/disk/catalog/index.hpp"
#include "proxy/cache/disk/catalog/key_counts.hpp"
#include "proxy/cache/disk/catalog/purge_rules.hpp"
#include "proxy/cache/disk/catalog/segments.hpp"

namespace proxy::cache::disk {

// Each member may be used by any thread. The writer's thread alone adds what it has written; other
// threads erase from the index and add purge rules.
struct Catalog {
  explicit Catalog(std::uint32_t origin = 0, PurgeRules::Reading reading = PurgeRules::as_prefix,
                   RecordTimes::Time started = RecordTimes::Time::max(), std::uint32_t run = 0)
      : index(origin), segments(started, run), rules(std::move(reading)) {}

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

}  // namespace proxy::cache::disk
