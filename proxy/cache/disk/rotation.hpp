// Begins a new segment when the newest one is full, and reclaims the oldest ones for it.
#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <vector>

#include "proxy/cache/disk/appender.hpp"
#include "proxy/cache/disk/catalog.hpp"
#include "proxy/cache/disk/directory.hpp"
#include "proxy/cache/disk/format.hpp"
#include "proxy/cache/disk/object_claims.hpp"
#include "proxy/cache/disk/options.hpp"

namespace proxy::cache::disk {

// Begins segments, and reclaims one at a time, the oldest first: appends the entries to keep again,
// then removes the file. Keeps the files within LogLimits::bytes and within the space of the file
// system. For the writer's thread; waits for the disk.
class Rotation {
 public:
  // All references outlive the rotation.
  Rotation(const LogLimits& limits, Catalog& catalog, SegmentFiles& files, Appender& appender,
           ObjectClaims& claims)
      : limits_(limits), catalog_(catalog), files_(files), appender_(appender), claims_(claims) {}

  // Seals the newest segment, begins another one, and copies entries of reclaimed segments into it,
  // but leaves room for `awaited_bytes`. Reclaims one segment ahead: the next new segment needs
  // space for the copies before the oldest segment is removed.
  Result<void> begin_segment(std::uint64_t awaited_bytes);
  // If wall time has stepped since a segment was begun, begins another one, so that later runs know
  // of the step. A segment without records is marked again instead: a clock that steps again and
  // again makes no more segments.
  Result<void> apply_clock();
  // Ends the newest segment with a footer, so that the next start need not replay it.
  Result<void> seal();
  // Tries whether a record could be written now. Begins a segment if that helps.
  Result<void> probe();

  // Reclaims segments until the limits allow one more segment, copying nothing. Never reclaims the
  // segment that records are appended to.
  Result<void> make_room();
  // Reclaims the oldest segment, but never the newest, if all take more than LogLimits::bytes.
  // Returns whether they still do.
  Result<bool> reclaim_surplus();
  // Whether the index has more entries than LogLimits allows.
  bool is_crowded() const { return catalog_.index.entries() > limits_.entries; }

 private:
  // How much of reclaimed segments may still be copied; each copy reduces it. All appends wait
  // while entries are copied.
  struct Allowance {
    std::uint64_t bytes = 0;
    std::size_t entries = 0;

    bool has_room_for(const Listed& listed) const;
  };

  Result<void> create();
  Result<void> create_squeezed();
  Result<void> append_to(const Result<std::shared_ptr<const Segment>>& segment,
                         const ClockMark& clock);
  bool may_yield() const { return files_.may_yield(appender_.segment()); }
  bool lacks_space() const { return files_.lacks_space(limits_.segment_bytes); }
  Result<void> yield_oldest(Allowance& allowance);
  bool has_surplus() const;

  // Reclaims segments until LogLimits::bytes allows one more and the index has at most `entries`.
  Result<void> make_room(std::size_t entries, Allowance& allowance);
  // Reclaims the oldest segment. After an error the segment is still there, and the caller may try
  // again.
  Result<void> reclaim_oldest(Allowance& allowance);
  Result<void> clear_out(const Segment& segment, Allowance& allowance);
  Result<void> clear_out(const Listed& listed, Position at, Allowance& allowance);
  Result<void> clear_out_block(const Key& key, const Location& location, Allowance& allowance);
  void read_ahead(const Segment& segment, const std::vector<Listed>& records,
                  const Allowance& allowance) const;
  Result<void> copy(const Key& key, const Location& location, Allowance& allowance);
  void evict(const Key& key, Position at);

  const LogLimits& limits_;
  Catalog& catalog_;
  SegmentFiles& files_;
  Appender& appender_;
  ObjectClaims& claims_;
  std::chrono::milliseconds marked_{0};  // how far wall time was ahead when a segment was begun
};

}  // namespace proxy::cache::disk
