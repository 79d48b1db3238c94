// All segments as one log: what is appended, what is reclaimed for it, and what a start finds.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "proxy/cache/disk/counters.hpp"
#include "proxy/cache/disk/directory.hpp"
#include "proxy/cache/disk/footer.hpp"
#include "proxy/cache/disk/index.hpp"
#include "proxy/cache/disk/learn.hpp"
#include "proxy/cache/disk/purge_rules.hpp"
#include "proxy/cache/disk/record.hpp"
#include "proxy/cache/disk/scan.hpp"
#include "proxy/cache/disk/segments.hpp"
#include "proxy/cache/disk/walk.hpp"
#include "proxy/cache/disk/write_pace.hpp"

namespace proxy::cache::disk {

struct LogLimits {
  std::uint64_t bytes = 0;  // of all files together
  // Of the index. With more, by no more than are written together, the oldest segments go.
  std::size_t entries = std::numeric_limits<std::size_t>::max();
  std::uint32_t segment_bytes = std::uint32_t{64} << 20;
  bool sync_purges = false;  // wait for the disk before a purge is done
  // Whether an entry of a segment that is about to go is kept, by being appended again. At most
  // half of a segment's bytes are, on a slow disk what it writes in 0.3 s or one block, and few
  // where the index is full. Of large objects each block is asked for by itself, and those that
  // nobody finds any more are not; the object stays, whatever room there is, while one of its first
  // 1024 blocks does.
  std::function<bool(const Key&, const Place&)> keep = [](const Key&, const Place& place) {
    return place.used;
  };
};

// With less than this many, more would be lost with each than need be: smaller ones are made.
inline constexpr std::uint64_t kWantedSegments = 16;
inline constexpr std::uint32_t kLeastSegmentBytes = 4096;

// Segments of the size asked for, or smaller ones where all may take little; `too_small` where even
// those are too large.
Result<std::uint32_t> segment_bytes_for(const LogLimits& limits);

// What a start found. Nothing of it is fatal.
struct Loaded {
  std::size_t segments = 0;
  std::size_t entries = 0;
  std::size_t replayed = 0;       // segments without a footer: after a crash, the newest
  std::size_t cut = 0;            // 1: the newest ended in what a crash had cut, which is lost
  std::size_t damaged = 0;        // segments that lost something else, or all
  std::size_t other_version = 0;  // segments removed as they are of another version
  std::size_t unreadable = 0;     // segments left alone as the system refused to read them
  std::size_t forgotten = 0;      // 1: the newest told nothing, and might have purged all before it
};

// Where its parts live that other threads read.
struct Shared {
  Index& index;
  Segments& segments;
  PurgeRules& rules;
  Counters& counters;
  std::atomic<bool>& log_has_more;  // than the index: what could not be read may be back some day
};

// Records are gathered and written together; what is shared with readers knows a record only once
// write() has returned, from when on it survives a crash of the process. A loss of power may take
// what the kernel had not written yet, some 30 s; what is cut or missing is then found by its
// checksum, and what was purged in that time may be back, unless LogLimits::sync_purges. Files
// never take more than LogLimits::bytes together, at no moment: the oldest segment goes before a
// new one is made, and a new one is taken as whole from its beginning.
//
// For one thread at a time; waits for the disk. After an error nothing is lost of what was written
// before, and the call may be made again later.
class Log {
 public:
  // `limits` have passed segment_bytes_for().
  Log(LogLimits limits, Shared shared);

  // Takes the directory, learns what is in it, goes on behind it. What the shared parts knew
  // before is forgotten.
  Result<Loaded> open(const std::filesystem::path& path);
  bool is_open() const { return directory_.has_value(); }
  // `no_directory` where it was removed or mounted over.
  Result<void> check_directory() const;
  // Ends the newest segment with a footer, so that the next start is quick.
  Result<void> close();
  // Lets go of the directory and everything in it, as it is.
  void abandon();

  // Takes the record; an error is for record.done alone, and for what was gathered with it.
  Result<void> append(Record record);
  // Writes what is gathered.
  Result<void> flush();
  bool has_gathered() const { return !gathered_.empty(); }
  // That of all it wrote.
  const WritePace& pace() const { return pace_; }
  // Whether it could be written now: an append would not fail for what failed before.
  Result<void> probe();

  // What is claimed of an object goes by its blocks: a record of it that lets it be claimed is
  // written as one that does not, where not all of them are found. When one is lost to reclaiming,
  // another record follows before the segment goes, or, where there is no room, right after. Of
  // blocks that come or are lost otherwise the log is told here: by the object's URL, and its
  // version, or 0 for whatever it is.
  void doubt(const Key& key, std::uint64_t version) { doubted_.emplace(key, version); }
  // Blocks were lost of which nobody knows whose they are: no object is claimed before all its
  // blocks were looked for, and soon no variant of one.
  void doubt_objects();
  // Writes what follows of that for some, in a step. False when nothing is left to look at.
  Result<bool> settle_claims();

  // Looks at some more entries, in the order of the log, for such as a rule says are purged, and
  // records what it found; once all are looked at, that too, and no start needs to search again. A
  // step. False when there is nothing left to look for.
  Result<bool> search_purged();

  // What is appended waits for a step: it reads no more entries than this, nor for longer, but for
  // the last read.
  static constexpr std::size_t kStepEntries = 256;
  static constexpr std::chrono::milliseconds kStep{100};

  // What the files take.
  std::uint64_t used_bytes() const { return used_; }
  const LogLimits& limits() const { return limits_; }

 private:
  struct Gathered {
    Record record;
    std::array<std::uint8_t, kRecordHeaderBytes> header;
    std::optional<Position> moved_from;  // of a copy: only if it is still found there
  };
  struct Room {  // for copies of what is kept
    std::uint64_t bytes = 0;
    std::size_t entries = 0;
  };
  struct Current {
    std::shared_ptr<const Segment> segment;
    std::vector<Listed> records;
    std::uint64_t end = 0;  // of what is written
  };

  bool fits(std::uint64_t record_bytes) const;
  bool still_replaces(Record& record) const;
  bool depends_on_gathered(const Record& record) const;
  Result<void> gather(Record record, std::optional<Position> moved_from);
  void apply(Gathered& added);
  void fail_gathered(Error error);

  // Segments come and go (log_segments.cpp).
  Result<void> begin_segment(std::uint64_t awaited_bytes);
  Result<void> create_segment();
  Result<void> create_squeezed();
  Result<void> seal();
  void account(std::uint32_t segment, std::uint64_t bytes);
  // On the disk for one more segment, and for all but so many entries in the index.
  Result<void> make_room(std::size_t entries, Room& copies);
  // Where the file system has less room than LogLimits::bytes, the oldest goes for that, too.
  bool may_yield() const;
  bool lacks_space() const;
  Result<void> yield_oldest(Room& copies);
  bool is_crowded() const { return shared_.index.entries() > limits_.entries; }
  // Appends what is to be kept of it, as far as there is room, and removes it.
  Result<void> reclaim(std::uint32_t segment, Room& room);
  Result<void> clear_out(const Segment& segment, Room& room);
  void read_ahead(const Segment& segment, const std::vector<Listed>& records,
                  const Room& room) const;
  Result<void> clear_out(const Listed& listed, Position at, Room& room);
  Result<void> copy(const Key& key, const Place& place, Room& room);
  void evict(const Key& key, Position at);

  // Purges by prefix (log_search.cpp).
  Result<bool> search_some();
  Result<void> end_search(Position until);
  void apply_searched(std::string_view head);

  // Large objects (log_objects.cpp).
  bool holds_all(const RecordHeader& header, std::string_view url) const;
  bool holds_any(const Key& key, const Place& place) const;
  bool is_orphan(const RecordHeader& block) const;
  Result<void> clear_out_block(const Key& key, const Place& place, Room& room);
  Result<bool> review(const Key& key, std::uint64_t version);
  Result<void> review_doubted();

  // A start (log_load.cpp).
  Result<void> load_segment(std::uint32_t segment, bool newest, Learner& learner, Loaded& found);
  void end_loaded(std::shared_ptr<const Segment> segment, Scanned scanned, bool newest);

  const LogLimits limits_;
  const Shared shared_;
  std::optional<Directory> directory_;
  std::map<std::uint32_t, std::uint64_t> sizes_;  // what each segment takes of the disk
  std::uint64_t used_ = 0;                        // their sum
  std::uint64_t most_used_ = 0;                   // that it was
  std::uint32_t last_number_ = 0;
  std::optional<std::uint16_t> purges_;  // in the log; while it is read, if that is known yet
  std::optional<Current> current_;
  std::deque<Gathered> gathered_;
  std::vector<iovec> pieces_;
  std::uint64_t gathered_bytes_ = 0;
  WritePace pace_;
  std::uint64_t awaited_bytes_ = 0;                  // of the record that a segment is begun for
  std::optional<Position> searching_for_;            // up to this rule a search is for
  std::optional<Walk> search_;                       // how far it is; none: to be begun
  std::set<std::pair<Key, std::uint64_t>> doubted_;  // whose claims have to be looked at
};

}  // namespace proxy::cache::disk
