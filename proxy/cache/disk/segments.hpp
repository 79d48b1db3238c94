// The segments of the log, each an open file, and the times of their records.
#pragma once

#include <atomic>
#include <boost/core/noncopyable.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "peers/threads/mutex.hpp"
#include "proxy/cache/disk/file.hpp"
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

  // `run`: a random number. The defaults are for a process that only reads the log of another one.
  explicit RecordTimes(Time started = Time::max(), std::uint32_t run = 0)
      : started_(std::chrono::floor<milliseconds>(started.time_since_epoch())), run_(run) {}

  // Call this when wall time is ahead of the clock by `ahead`. Returns by how much the records of
  // earlier runs have become older.
  milliseconds apply(milliseconds ahead);
  // The mark for a segment that is begun now.
  [[nodiscard]] ClockMark mark() const;
  // Whether wall time has stepped since a segment with this mark was begun. Rules count seconds, so
  // less than a second is no step.
  [[nodiscard]] bool has_stepped_since(milliseconds marked) const;
  [[nodiscard]] std::uint32_t run() const { return run_; }

  // How far the times in the record at this offset of a segment are ahead.
  [[nodiscard]] milliseconds ahead(const SegmentTimes& of, std::uint32_t offset) const;
  // Converts the times in a record of the segment with the times `of` to the program's clock.
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

// Asks cachestat(2) (Linux 6.5), which counts pages that are being read, too. Where the system
// lacks it, asks mincore(2), which takes several times as long and needs a mapping of the file.
// Nothing ever reads the mapping, so it takes addresses but no memory, and a file that becomes
// shorter does no harm. It is made when it is first needed. Any thread.
class Residency : boost::noncopyable {
 public:
  // The file outlives this object. No offset of the file reaches kMaxSegmentBytes.
  explicit Residency(const File& file) : file_(file) {}
  ~Residency();

  // Whether all of these bytes are in the page cache now. False also if the system does not tell.
  bool has(std::uint64_t offset, std::uint64_t bytes) const;
  // Asks mincore() whether the page cache has these bytes. Public for tests.
  bool has_by_mapping(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  const File& file_;
  mutable std::once_flag mapped_;
  mutable void* mapping_ = nullptr;  // null: the system refused to map the file
};

class SegmentUser {
 public:
  virtual ~SegmentUser() = default;
  // Reads what is still needed of the file, which is about to be emptied. Called once, on the
  // writer's thread, while all appends wait.
  virtual void save() = 0;
};

// The users of segments. Any thread may call any function.
class SegmentUsers {
 public:
  // The user counts until its last owner is gone. Returns false if save_all() was called: the file
  // must not be used.
  [[nodiscard]] bool add(const std::shared_ptr<SegmentUser>& user) EXCLUDES(mutex_);
  void save_all() EXCLUDES(mutex_);

 private:
  static constexpr std::size_t kFewest = 16;

  threads::Mutex mutex_;
  bool closed_ GUARDED_BY(mutex_) = false;
  // Pointers to users that are gone stay until there are `most_`; then they are removed.
  std::vector<std::weak_ptr<SegmentUser>> users_ GUARDED_BY(mutex_);
  std::size_t most_ GUARDED_BY(mutex_) = kFewest;
};

struct Segment {
  Segment(std::uint32_t its_number, File its_file, const SegmentTimes& its_times = {})
      : number(its_number), file(std::move(its_file)), times(its_times) {}

  const std::uint32_t number;
  const File file;
  const SegmentTimes times;  // of its records
  const Residency residency{file};
  mutable SegmentUsers users = {};
};

// Each segment takes one descriptor: a cache of 20 GiB has 320 segments. Any thread. A reader may
// still use a segment that was reclaimed: the file is empty, and reads return Error::gone.
class Segments {
 public:
  Segments() = default;
  Segments(RecordTimes::Time started, std::uint32_t run) : times(started, run) {}

  // Finds the segment of this number. Null if it was reclaimed.
  std::shared_ptr<const Segment> find(std::uint32_t number) const;
  void add(std::shared_ptr<const Segment> segment);
  void remove(std::uint32_t number);
  void clear();

  // The segment with the lowest number, or the lowest number above `number`. Null if there is none.
  std::shared_ptr<const Segment> oldest() const { return after(0); }
  std::shared_ptr<const Segment> after(std::uint32_t number) const;
  std::size_t count() const;
  // Calls SegmentUsers::save_all() of each segment.
  void save_all_users() const;

  RecordTimes times;  // of their records

 private:
  mutable threads::SharedMutex mutex_{threads::Place::third};
  std::map<std::uint32_t, std::shared_ptr<const Segment>> segments_ GUARDED_BY(mutex_);
};

}  // namespace proxy::cache::disk
