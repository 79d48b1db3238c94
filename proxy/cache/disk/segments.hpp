// The segments of the log, each an open file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "peers/threads/mutex.hpp"
#include "proxy/cache/disk/file.hpp"
#include "proxy/cache/disk/record_times.hpp"

namespace proxy::cache::disk {

// Asks cachestat(2) (Linux 6.5), which counts pages that are being read, too. Where the system
// lacks it, asks mincore(2), which takes several times as long and needs a mapping of the file.
// Nothing ever reads the mapping, so it takes addresses but no memory, and a file that becomes
// shorter does no harm. It is made when it is first needed. Any thread.
class Residency {
 public:
  // The file outlives this object. No offset of the file reaches kMaxSegmentBytes.
  explicit Residency(const File& file) : file_(file) {}
  ~Residency();
  Residency(const Residency&) = delete;
  Residency& operator=(const Residency&) = delete;

  // Whether all of these bytes are in the page cache now. False also if the system does not tell.
  bool has(std::uint64_t offset, std::uint64_t bytes) const;
  // The same by mincore(). Public for tests.
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

// Any thread.
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
  // Some are gone. These are removed whenever there are `most_`.
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

  // Null if the segment was reclaimed.
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
