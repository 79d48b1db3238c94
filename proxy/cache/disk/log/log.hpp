// All segments as one log, which only grows at its end.
#pragma once

#include <cstdint>
#include <filesystem>

#include "proxy/cache/disk/catalog/catalog.hpp"
#include "proxy/cache/disk/log/appender.hpp"
#include "proxy/cache/disk/log/limits.hpp"
#include "proxy/cache/disk/log/loading.hpp"
#include "proxy/cache/disk/log/new_record.hpp"
#include "proxy/cache/disk/log/object_claims.hpp"
#include "proxy/cache/disk/log/prefix_search.hpp"
#include "proxy/cache/disk/log/reclaimer.hpp"
#include "proxy/cache/disk/log/rotation.hpp"
#include "proxy/cache/disk/log/segment_files.hpp"

namespace proxy::cache::disk {

// Appends records, and reclaims the oldest segments for them. The files together never take more
// than LogLimits::bytes, at no moment.
//
// A record counts from flush() on, and then survives a crash of the process. A loss of power may
// take what the kernel had not written yet, some 30 s of records: checksums show which are cut or
// missing, but entries that were purged in that time may be back, unless LogLimits::sync_purges.
//
// For one thread at a time; every call may wait for the disk. After an error, what was written
// before is still there, and the call may be made again later.
class Log {
 public:
  // `limits` have passed segment_bytes_for(). The catalog outlives the log.
  Log(LogLimits limits, Catalog& catalog);

  // Takes the directory and learns what is in it. The catalog forgets what it knew before, but not
  // the purge rules that are not written yet.
  Result<Loaded> open(const std::filesystem::path& path);
  // `no_directory` where the directory was removed or mounted over.
  Result<void> check_directory() const { return files_.check(appender_.segment()); }
  // Seals the newest segment.
  Result<void> close();
  // Lets go of the directory and leaves the files as they are. Gathered records fail.
  void abandon();

  // Takes the record. record.done is told how it ends, at the latest when flush() returns. An error
  // that only this record has is told to record.done alone; an error of the disk is returned, too.
  Result<void> append(NewRecord record);
  // Writes what is gathered.
  Result<void> flush() { return appender_.flush(); }
  bool has_gathered() const { return appender_.has_gathered(); }
  const WritePace& pace() const { return appender_.pace(); }
  // Whether an append would work now, after one has failed.
  Result<void> probe() { return rotation_.probe(); }

  // Has the claim of an object reviewed: see ObjectClaims.
  void doubt(const Key& object, std::uint64_t version) { claims_.doubt(object, version); }
  void doubt_objects() { claims_.doubt_objects(); }
  // Reviews some claims, and searches for some entries that purges by prefix cover. False when
  // nothing is left to do.
  Result<bool> settle_claims();
  Result<bool> search_purged();

  // Of the file system, by all segments.
  std::uint64_t used_bytes() const { return files_.used_bytes(); }
  const LogLimits& limits() const { return limits_; }

 private:
  bool still_replaces(NewRecord& record) const;

  const LogLimits limits_;
  Catalog& catalog_;
  SegmentFiles files_;
  Appender appender_{limits_, catalog_};
  ObjectClaims claims_{catalog_, appender_};
  Reclaimer reclaimer_{limits_, catalog_, files_, appender_, claims_};
  Rotation rotation_{limits_, catalog_, files_, appender_, reclaimer_};
  PrefixSearch search_{limits_.segment_bytes, catalog_, claims_};
};

}  // namespace proxy::cache::disk
