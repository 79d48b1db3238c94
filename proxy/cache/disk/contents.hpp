// Reads the entries of a stopped cache without starting it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "proxy/cache/disk/catalog.hpp"
#include "proxy/cache/disk/directory.hpp"
#include "proxy/cache/disk/stored_record.hpp"

namespace proxy::cache::disk {

// The entries that a start would find if LogLimits are not smaller than before. Changes nothing on
// disk. Locks the directory, but shares it with other readers. For one thread; waits for the disk.
// The index takes some 50 bytes of memory for each entry.
class Contents {
 public:
  // `reading`: which URLs a purge by prefix covers.
  explicit Contents(PurgeRules::Reading reading = PurgeRules::as_prefix)
      : rules_(std::move(reading)) {}

  // Segments that could not be read in full.
  struct Unknown {
    std::size_t unreadable = 0;
    std::size_t damaged = 0;  // a crash may have cut one of them
    std::size_t other_version = 0;
  };

  // Call it first, and only once. `no_directory`: there is no cache. `in_use`: a proxy writes to
  // it.
  Result<Unknown> open(const std::filesystem::path& path);

  std::size_t entries() const { return index_.entries(); }

  // One entry: its key, its location, and its record or the reason why it cannot be read.
  struct Seen {
    const Key& key;
    const Location& place;
    const Result<StoredRecord>& stored;
  };
  // Visits every entry that no purge rule covers, in the order of the log, until `visit` returns
  // false. Blocks of large objects are entries, too. Reads only entries for which `wanted` is true.
  void each(const std::function<bool(const Seen&)>& visit,
            const std::function<bool(const Location&)>& wanted = {}) const;

 private:
  std::optional<Directory> directory_;
  Index index_;
  Segments segments_;
  PurgeRules rules_;
};

}  // namespace proxy::cache::disk
