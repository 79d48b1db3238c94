// The difference between the times in records on disk and those of the program's clock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "proxy/cache/disk/format.hpp"

namespace proxy::cache::disk {

// Records state wall time, because the next run knows no other. Within a run, times follow a clock
// that does not step with wall time (proxy/machine/clock.hpp), and the index has such times. So
// each record is shifted by how far wall time was ahead of that clock when its segment was begun.
// After a step the writer begins a new segment (Rotation::apply_clock()).
struct SegmentTimes {
  // Earlier runs wrote what begins before this offset; this run may have gone on behind it.
  std::uint32_t earlier_until = UINT32_MAX;
  std::chrono::milliseconds ahead{0};  // of the clock, as wall time was at the start

  [[nodiscard]] bool earlier(std::uint32_t offset) const { return offset < earlier_until; }
};

// An earlier run may have written its records by a wrong clock. They count as older rather than
// younger: their ages follow wall time or the clock, whichever is later. A record from the future
// counts as the oldest.
//
// Any thread.
class RecordTimes {
 public:
  using milliseconds = std::chrono::milliseconds;
  using Time = std::chrono::system_clock::time_point;

  // `run`: a random number. The default is for those who look at the log of another process.
  explicit RecordTimes(Time started = Time::max(), std::uint32_t run = 0)
      : started_(std::chrono::floor<milliseconds>(started.time_since_epoch())), run_(run) {}

  // Call this when wall time is ahead of the clock by `ahead`. Returns by how much the records of
  // earlier runs have become older.
  milliseconds apply(milliseconds ahead);
  // For a segment that is begun now.
  [[nodiscard]] ClockMark mark() const;
  // Whether wall time has stepped since a segment with this mark was begun. Rules count seconds, so
  // less than a second is no step.
  [[nodiscard]] bool has_stepped_since(milliseconds marked) const;
  [[nodiscard]] std::uint32_t run() const { return run_; }

  // How far the times in the record at this offset of a segment are ahead.
  [[nodiscard]] milliseconds ahead(const SegmentTimes& of, std::uint32_t offset) const;
  // Moves the times of a record that was read to the program's clock.
  void to_clock(RecordHeader& record, const SegmentTimes& of) const;

 private:
  const milliseconds started_;  // since 1970
  const std::uint32_t run_;
  std::atomic<std::int64_t> now_ahead_ = 0;
};

// Computes the times of segments, from the newest to the oldest. The steps within one run are known
// by its marks. Of a later run only the steps back count: it may have begun with a clock that was
// behind.
class TimesOfRuns {
 public:
  explicit TimesOfRuns(std::uint32_t run) : run_(run) {}

  SegmentTimes next(const ClockMark& mark);

 private:
  const std::uint32_t run_;            // ours
  std::optional<ClockMark> newest_;    // of the run whose segments come
  std::chrono::milliseconds back_{0};  // the steps back of the runs after it: negative
};

// Moves those times that the record has.
void shift_times(RecordHeader& record, std::chrono::milliseconds by);
// Moves the end of a claim, in seconds since 1970; 0, for no claim, stays.
std::uint32_t shifted_claim(std::uint32_t until, std::chrono::milliseconds by);

}  // namespace proxy::cache::disk
