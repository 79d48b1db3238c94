// All segments as one log. Records are only appended.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "proxy/cache/disk/appender.hpp"
#include "proxy/cache/disk/catalog.hpp"
#include "proxy/cache/disk/directory.hpp"
#include "proxy/cache/disk/index.hpp"
#include "proxy/cache/disk/loading.hpp"
#include "proxy/cache/disk/object_claims.hpp"
#include "proxy/cache/disk/options.hpp"
#include "proxy/cache/disk/rotation.hpp"
#include "proxy/cache/disk/stored_record.hpp"

namespace proxy::cache::disk {

// Appends records, and reclaims the oldest segments for them. At no moment do the files together
// take more than LogLimits::bytes.
//
// A record counts from flush() on, and then survives a crash of the process. A loss of power may
// lose the records that the kernel had not written yet, those of some 30 s. Checksums show which
// records are cut or missing. But if LogLimits::sync_purges is false, entries that were purged in
// that time may be back.
//
// For one thread at a time; every call may wait for the disk. After an error the records written
// before are still there, and the caller may try again later.
class Log {
 public:
  // `limits` have passed segment_bytes_for(). The catalog outlives the log.
  Log(LogLimits limits, Catalog& catalog);

  // Locks the directory and fills the catalog with its entries. Before that, clears the catalog,
  // but for the purge rules that are not written yet.
  Result<Loaded> open(const std::filesystem::path& path);
  // `no_directory` where the directory was removed or mounted over.
  Result<void> check_directory() const { return files_.check(appender_.segment()); }
  // Seals the newest segment.
  Result<void> close();
  // Closes the directory and leaves the files as they are. Gathered records fail.
  void abandon();

  // Appends a record. Calls record.done with the result, at the latest before flush() returns. An
  // error of this record alone goes only to record.done; an error of the disk is returned, too.
  Result<void> append(NewRecord record);
  // Applies a step of the clock: see Rotation::apply_clock().
  Result<void> apply_clock() { return rotation_.apply_clock(); }
  // Writes the gathered records.
  Result<void> flush() { return appender_.flush(); }
  bool has_gathered() const { return appender_.has_gathered(); }
  const WritePace& pace() const { return appender_.pace(); }
  // Whether an append would work now, after one has failed.
  Result<void> probe() { return rotation_.probe(); }

  // Marks claims of objects for review: see ObjectClaims.
  void doubt(const Key& object, std::uint64_t version) { claims_.doubt(object, version); }
  void doubt_objects() { claims_.doubt_objects(); }
  // Reviews some claims. False when nothing is left to do.
  Result<bool> settle_claims();
  // Searches for the entries that purges by prefix cover, some at a time. A purge rule hides
  // entries at once, but while there are rules, each look-up has to ask them. So the search reads
  // every older entry, and writes records (`searched`) that list those that a rule covers. At the
  // end of the log it records that it is complete, so that no start searches again, and drops the
  // rules. A rule may cover a block of an object that stays: the claim of that object is doubted
  // then. False when no rule is left.
  Result<bool> search_purged();

  // Sets the size of the log, and of its further segments. A log that is too large by then is
  // reduced by reclaim_surplus(), and no later than by the next segment.
  Result<void> resize(const LogSize& size);
  LogSize size() const { return size_of(limits_); }
  // Reclaims segments beyond the limit: see Rotation::reclaim_surplus().
  Result<bool> reclaim_surplus() { return rotation_.reclaim_surplus(); }

  // Whether others leave the log too little of the file system. For an open log.
  bool is_squeezed() const { return files_.is_squeezed(limits_.bytes, limits_.segment_bytes); }
  // Disk space of all segments.
  std::uint64_t used_bytes() const { return files_.used_bytes(); }

 private:
  bool still_replaces(NewRecord& record) const;
  Result<void> write(NewRecord record);
  Result<bool> search_some();
  Result<void> end_search(Position until);
  void abandon_search();

  LogLimits limits_;
  Catalog& catalog_;
  SegmentFiles files_;
  Appender appender_{limits_, catalog_};
  ObjectClaims claims_{catalog_, appender_};
  Rotation rotation_{limits_, catalog_, files_, appender_, claims_};
  std::optional<Position> search_until_;  // of the newest rule that the search is for
  std::optional<Walk> search_;            // none: the search has not begun
};

}  // namespace proxy::cache::disk
