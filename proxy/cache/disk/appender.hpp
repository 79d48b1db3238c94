// Writes records to the newest segment, several at a time.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "proxy/cache/disk/catalog.hpp"
#include "proxy/cache/disk/format.hpp"
#include "proxy/cache/disk/options.hpp"
#include "proxy/cache/disk/pace.hpp"
#include "proxy/cache/disk/stored_record.hpp"

namespace proxy::cache::disk {

// Gathers records and writes them with one call, since one call per record costs more than the
// bytes. The catalog learns of a record only after it is written: from then on the record survives
// a crash of the process. For the writer's thread; gather(), flush() and seal() wait for the disk.
class Appender {
 public:
  // Both outlive the appender.
  Appender(const LogLimits& limits, Catalog& catalog) : limits_(limits), catalog_(catalog) {}

  // Appends to this segment from now on, at `end`. `records`: the records that the segment has.
  void begin(std::shared_ptr<const Segment> segment, std::vector<Listed> records,
             std::uint64_t end);
  // Writes the footer, cuts the file behind it, and returns the file's size. Afterwards there is no
  // segment, also after an error: the next start replays a segment without footer. Call it only
  // while there is a segment and nothing is gathered.
  Result<std::uint64_t> seal();
  // Lets the gathered records fail, and leaves the segment as it is. Afterwards there is no
  // segment.
  void abandon();
  // The newest segment, to which records are appended; null if there is none.
  const Segment* segment() const { return current_ ? current_->segment.get() : nullptr; }

  // Whether there is a segment that this run has begun and that has no written record.
  bool is_unused() const {
    return current_ && current_->records.empty() && !current_->segment->times.earlier(0);
  }

  // Whether the segment has room for one more record of this size, after the gathered records, and
  // beside the reserved bytes and the footer. False without a segment.
  bool fits(std::uint64_t record_bytes) const;
  // Keeps this many bytes of the segment free. A segment is begun for a record, but copies of old
  // entries are appended before that record.
  void reserve(std::uint64_t bytes) { reserved_bytes_ = bytes; }
  // Whether a gathered record must be written before `record` can be completed: it may replace or
  // purge the same entry, or be a block of the same object.
  bool affects(const NewRecord& record) const;

  // Adds a record that fits. `moved_from`: the record is a copy of the entry at this position, and
  // counts only if the entry is still there. Flushes when enough is gathered.
  Result<void> gather(NewRecord record, std::optional<Position> moved_from);
  // Writes the gathered records. After an error all of them have failed, and none is in the
  // segment.
  Result<void> flush();
  bool has_gathered() const { return !gathered_.empty(); }
  // Writes a few zeros behind the last record, to see whether an append would fail now.
  Result<void> probe() const;

  // The number of purges in the log so far: records of the kinds 6 to 8 (format.hpp). It may be
  // unknown while a start reads the log.
  std::optional<std::uint16_t> purges() const { return purges_; }
  void set_purges(std::optional<std::uint16_t> purges) { purges_ = purges; }
  // How fast the disk has taken all writes.
  const WritePace& pace() const { return pace_; }

 private:
  struct Gathered {
    NewRecord record;
    RecordHeader written;  // the header of `record`, with the times that the disk gets
    std::array<std::uint8_t, kRecordHeaderBytes> header;
    std::optional<Position> moved_from;
  };
  struct Current {
    std::shared_ptr<const Segment> segment;
    std::vector<Listed> records;
    std::uint64_t end = 0;  // of the written records
  };

  void complete_header(NewRecord& record);
  void fail_gathered(Error error);
  void apply(Gathered& added);
  bool apply_stored(Gathered& added, const Location& location);
  void apply_searched(std::string_view head);

  const LogLimits& limits_;
  Catalog& catalog_;
  std::optional<Current> current_;
  std::deque<Gathered> gathered_;  // references to elements stay valid: pieces_ points into them
  std::vector<iovec> pieces_;      // of all gathered records, in order
  std::uint64_t gathered_bytes_ = 0;
  std::uint64_t reserved_bytes_ = 0;
  std::optional<std::uint16_t> purges_;
  WritePace pace_;
};

}  // namespace proxy::cache::disk
