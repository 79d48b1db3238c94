// Begins a new segment when the newest one is full.
#pragma once

#include <chrono>
#include <cstdint>

#include "proxy/cache/disk/log/appender.hpp"
#include "proxy/cache/disk/log/limits.hpp"
#include "proxy/cache/disk/log/reclaimer.hpp"
#include "proxy/cache/disk/log/segment_files.hpp"

namespace proxy::cache::disk {

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
