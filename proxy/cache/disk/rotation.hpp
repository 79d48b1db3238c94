// Begins a new segment when the newest one is full, and reclaims the oldest ones for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

#include "proxy/cache/disk/appender.hpp"
#include "proxy/cache/disk/catalog.hpp"
#include "proxy/cache/disk/format.hpp"
#include "proxy/cache/disk/object_claims.hpp"
#include "proxy/cache/disk/options.hpp"
#include "proxy/cache/disk/segment_files.hpp"

namespace proxy::cache::disk {

// How much of reclaimed segments may still be copied. All appends wait while entries are copied.
struct CopyAllowance {
  std::uint64_t bytes = 0;
  std::size_t entries = 0;
};

// Reclaims one segment at a time, the oldest first: appends the entries to keep again, then removes
// the file. For the writer's thread; waits for the disk.
class Reclaimer {
 public:
  static constexpr auto kAnyNumber = std::numeric_limits<std::size_t>::max();

  // All outlive the reclaimer.
  Reclaimer(const LogLimits& limits, Catalog& catalog, SegmentFiles& files, Appender& appender,
            ObjectClaims& claims)
      : limits_(limits), catalog_(catalog), files_(files), appender_(appender), claims_(claims) {}

  // Reclaims segments until LogLimits::bytes allows one more segment and the index has at most this
  // many entries. Never reclaims the segment that records are appended to. Each copy reduces the
  // allowance.
  Result<void> make_room(std::size_t entries, CopyAllowance& allowance);
  // Reclaims one segment. After an error the segment is still there, and the caller may try again.
  Result<void> reclaim(std::uint32_t number, CopyAllowance& allowance);
  // Whether the index has more entries than LogLimits allows.
  bool is_crowded() const { return catalog_.index.entries() > limits_.entries; }
  // The oldest segment, if all together take more than LogLimits::bytes; never the newest.
  std::optional<std::uint32_t> surplus() const;

 private:
  Result<void> clear_out(const Segment& segment, CopyAllowance& allowance);
  Result<void> clear_out(const Listed& listed, Position at, CopyAllowance& allowance);
  Result<void> clear_out_block(const Key& key, const Location& location, CopyAllowance& allowance);
  void read_ahead(const Segment& segment, const std::vector<Listed>& records,
                  const CopyAllowance& allowance) const;
  Result<void> copy(const Key& key, const Location& location, CopyAllowance& allowance);
  void evict(const Key& key, Position at);

  const LogLimits& limits_;
  Catalog& catalog_;
  SegmentFiles& files_;
  Appender& appender_;
  ObjectClaims& claims_;
};

// Keeps the files within LogLimits::bytes and within the space of the file system. For the writer's
// thread; waits for the disk.
class Rotation {
 public:
  // All outlive the rotation.
  Rotation(const LogLimits& limits, Catalog& catalog, SegmentFiles& files, Appender& appender,
           Reclaimer& reclaimer)
      : limits_(limits),
        catalog_(catalog),
        files_(files),
        appender_(appender),
        reclaimer_(reclaimer) {}

  // Seals the newest segment, begins another one, and copies entries of reclaimed segments into it,
  // but leaves room for `awaited_bytes`. Reclaims one segment ahead: the next new segment needs
  // space for the copies before the oldest segment is removed.
  Result<void> begin_segment(std::uint64_t awaited_bytes);
  // If wall time has stepped since a segment was begun, begins another one, so that later runs know
  // of the step. A segment without records is marked again instead: a clock that steps again and
  // again makes no more segments.
  Result<void> follow_clock();
  // Ends the newest segment with a footer, so that the next start need not replay it.
  Result<void> seal();
  // Tries whether a record could be written now. Begins a segment if that helps.
  Result<void> probe();

 private:
  Result<void> create();
  Result<void> create_squeezed();
  Result<void> append_to(const Result<std::shared_ptr<const Segment>>& segment,
                         const ClockMark& clock);
  bool may_yield() const { return files_.may_yield(appender_.segment()); }
  bool lacks_space() const { return files_.lacks_space(limits_.segment_bytes); }
  Result<void> yield_oldest(CopyAllowance& allowance);

  const LogLimits& limits_;
  Catalog& catalog_;
  SegmentFiles& files_;
  Appender& appender_;
  Reclaimer& reclaimer_;
  std::chrono::milliseconds marked_{0};  // how far wall time was ahead when a segment was begun
};

}  // namespace proxy::cache::disk
