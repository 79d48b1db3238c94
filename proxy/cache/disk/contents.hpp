// What a stopped cache holds, to look at it without starting it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <utility>

#include "proxy/cache/disk/catalog/learn.hpp"
#include "proxy/cache/disk/catalog/stored_record.hpp"
#include "proxy/cache/disk/format/directory.hpp"

namespace proxy::cache::disk {

// The entries that a start would find, unless the size allowed is less than it was; nothing on the
// disk is changed. Holds the directory, together with others that only look. For one thread; waits
// for the disk. Needs memory as the index does, some 50 bytes for each entry.
class Contents {
 public:
  // `reading`: which URLs a purge of many covers.
  explicit Contents(PurgeRules::Reading reading = PurgeRules::as_prefix)
      : rules_(std::move(reading)) {}

  // What could not be learned of segments.
  struct Unknown {
    std::size_t unreadable = 0;
    std::size_t damaged = 0;  // lost something, or all; one may be what a crash cut
    std::size_t other_version = 0;
  };

  // Before anything else, once. `no_directory`: there is no cache; `in_use`: somebody may write.
  Result<Unknown> open(const std::filesystem::path& path);

  std::size_t entries() const { return index_.entries(); }

  // One entry: what it is found under, where, and it itself or why it cannot be read.
  struct Seen {
    const Key& key;
    const Location& place;
    const Result<StoredRecord>& stored;
  };
  // All that no rule of a purge covers, in the order in which they were written, until `visit` says
  // false. Blocks of large objects are among them. Only what is `wanted` is read.
  void each(const std::function<bool(const Seen&)>& visit,
            const std::function<bool(const Location&)>& wanted = {}) const;

 private:
  std::optional<Directory> directory_;
  Index index_;
  Segments segments_;
  PurgeRules rules_;
};

}  // namespace proxy::cache::disk
