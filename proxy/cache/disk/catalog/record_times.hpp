// How far the times in records are from those that the program counts with.
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
// that does not step with wall time (proxy/net/clock.hpp), and the index has such times. So records
// are shifted by what wall time was ahead of that clock when each was written.
//
// Records of earlier runs may have been written by a clock that was right, or not. They count as
// older rather than younger: if wall time is ahead of the clock by now, it judges them.
//
// Any thread; append() is for the writer's thread. While wall time has not stepped, a call costs
// one load.
class RecordTimes {
 public:
  using milliseconds = std::chrono::milliseconds;

  // Wall time is now ahead of the clock by this. Returns by how much the records of earlier runs
  // have become older.
  milliseconds follow(milliseconds ahead);
  // The record at this position is about to be written, behind all others. Returns how far its
  // times are to be ahead.
  milliseconds append(Position at);
  // How far the times in this record are ahead.
  [[nodiscard]] milliseconds ahead(Position at) const;
  // Whether an earlier run has written the record.
  [[nodiscard]] bool is_earlier(Position at) const;

 private:
  // Beyond so many steps, later ones are not followed.
  static constexpr std::size_t kMostEras = 1000;

  // Records from here on, up to those of the next era.
  struct Era {
    Position from;
    milliseconds ahead;
  };

  std::atomic<bool> stepped_ = false;
  std::atomic<std::int64_t> now_ahead_ = 0;
  std::atomic<std::uint64_t> begun_ = to_number(kLastPosition);  // at the first era
  mutable threads::Mutex mutex_{threads::Place::third};
  std::vector<Era> eras_ GUARDED_BY(mutex_);
};

// Moves the times of the record, those that it has.
void shift_times(RecordHeader& record, std::chrono::milliseconds by);

}  // namespace proxy::cache::disk
