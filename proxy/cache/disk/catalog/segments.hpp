// The segments of the log, each an open file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "peers/threads/mutex.hpp"
#include "proxy/cache/disk/catalog/record_times.hpp"
#include "proxy/cache/disk/catalog/segment_users.hpp"
#include "proxy/cache/disk/format/file.hpp"
#include "proxy/cache/disk/format/residency.hpp"

namespace proxy::cache::disk {

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
