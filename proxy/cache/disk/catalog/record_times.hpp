// The difference between the times in records on disk and those of the program's clock.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "config/threads/mutex.hpp"
#include "proxy/cache/disk/format/format.hpp"

namespace proxy::cache::disk {

// Records state wall time, because the next run knows no other. Within a run, times follow a clock
// that does not step with wall time (proxy/net/clock.hpp), and the index has such times. So each
// record is shifted by how far wall time was ahead of that clock when the record was written.
//
// An earlier run may have written its records by a wrong clock. They count as older rather than
// younger: their ages follow wall time or the clock, whichever is later.
//
// Any thread; append() is for the writer's thread. While wall time has not stepped, a call costs
// one load.
class RecordTimes {
 public:
  using milliseconds = std::chrono::milliseconds;

  // Call this when wall time is ahead of the clock by `ahead`. Returns by how much the records of
  // earlier runs have become older.
  milliseconds follow(milliseconds ahead);
  // Call this before a record is written at this position, behind all others. Returns how far its
  // times must be ahead.
  milliseconds append(Position at);
  // Returns how far the times in the record at this position are ahead.
  [[nodiscard]] milliseconds ahead(Position at) const;
  // Whether an earlier run has written the record.
  [[nodiscard]] bool is_earlier(Position at) const;

 private:
  // After this many steps, further ones are not followed.
  static constexpr std::size_t kMostEras = 1000;

  // The records from this position up to the next era.
  struct Era {
    Position from;
    milliseconds ahead;
  };

  std::atomic<bool> stepped_ = false;
  std::atomic<std::int64_t> now_ahead_ = 0;
  std::atomic<std::uint64_t> begun_ = to_number(kLastPosition);  // where the first era begins
  mutable threads::Mutex mutex_{threads::Place::third};
  std::vector<Era> eras_ GUARDED_BY(mutex_);
};

// Moves those times that the record has.
void shift_times(RecordHeader& record, std::chrono::milliseconds by);

}  // namespace proxy::cache::disk
