// What a start learns from the segments in the directory.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "proxy/cache/disk/appender.hpp"
#include "proxy/cache/disk/catalog.hpp"
#include "proxy/cache/disk/directory.hpp"
#include "proxy/cache/disk/options.hpp"
#include "proxy/cache/disk/rotation.hpp"
#include "proxy/cache/disk/scan.hpp"

namespace proxy::cache::disk {

// What was purged before a start, though perhaps not for long enough that all caches that hold it
// have heard of the change.
struct LatelyPurged {
  // A segment that was changed so long ago at most is looked through.
  static constexpr std::chrono::seconds kLately{60};

  std::vector<Key> keys;
  std::vector<std::string> prefixes;  // as Disk::purge_prefix() got them
};

// What a start found in the directory. The proxy starts whatever was found.
struct Loaded {
  std::size_t segments = 0;
  std::size_t entries = 0;
  std::size_t replayed = 0;       // segments without a footer: after a crash, the newest one
  std::size_t cut = 0;            // 1: a crash cut the newest segment, and its end is lost
  std::size_t damaged = 0;        // segments that lost other records, or all
  std::size_t other_version = 0;  // segments removed because of another version of the format
  std::size_t unreadable = 0;     // segments left alone because the system could not read them
  std::size_t forgotten = 0;      // 1: the newest was unreadable; as it may have had purges, no
                                  // earlier record counts
  LatelyPurged lately_purged;
};

// Lists the segments in the directory that are ours. Removes other files with the name of a
// segment, as far as possible: otherwise segments of ours would be reclaimed for their space.
Result<std::vector<Directory::Item>> own_segments(const Directory& directory, Loaded& found);

// Reads the segments, oldest first, into the catalog, and makes the appender ready to append. For
// one start, on the writer's thread; waits for the disk.
class Loading {
 public:
  // All references outlive the loading, which adds to `found`.
  Loading(const LogLimits& limits, Catalog& catalog, SegmentFiles& files, Appender& appender,
          Loaded& found)
      : limits_(limits),
        catalog_(catalog),
        files_(files),
        appender_(appender),
        learner_(catalog.index, catalog.segments, catalog.rules),
        found_(found) {}

  // Fails only if a later start may succeed; then all files stay. `rotation` seals segments without
  // footer.
  Result<void> run(Rotation& rotation);

 private:
  void read_times();
  Result<void> load(std::uint32_t number, Rotation& rotation);
  void learn_shifted(const std::vector<Listed>& records, const Segment& segment);
  void record_purges(const std::vector<Listed>& records, std::uint32_t segment);
  void learn(File file, Scanned scanned, std::uint32_t number, Rotation& rotation);
  void finish(std::shared_ptr<const Segment> segment, Scanned scanned, Rotation& rotation);

  const LogLimits& limits_;
  Catalog& catalog_;
  SegmentFiles& files_;
  Appender& appender_;
  Learner learner_;
  std::uint32_t newest_ = 0;                          // number of the newest segment
  ClockMark mark_before_ = {};                        // of the segment that was loaded last
  std::map<std::uint32_t, SegmentTimes> times_ = {};  // by number of the segment
  Loaded& found_;
};

}  // namespace proxy::cache::disk
