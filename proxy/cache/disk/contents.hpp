// What `hearsay cache` does with a cache: reads the entries of a stopped one without starting it,
// and checks whether all bytes of a segment are as they were written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "proxy/cache/disk/catalog.hpp"
#include "proxy/cache/disk/directory.hpp"
#include "proxy/cache/disk/file.hpp"
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

enum class Fault : std::uint8_t {
  unreadable,      // the system refused to read
  segment_header,  // damaged; the records can be read all the same
  other_version,   // of the format: nothing is read, and a start removes the segment
  too_long,        // for a segment: nothing is read, and a start removes the segment
  no_record,       // no record where one should begin
  head,            // the checksum of header, URL and head does not match
  body,            // the checksum of the body does not match
  footer,          // damaged, or it lists other records; a start finds the records by replay
  unsure,          // a good record behind damage of unknown length: a sender may have forged it
};

// A text for people.
std::string_view to_string(Fault fault);

struct Damage {
  Fault fault = Fault::unreadable;
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;
  // Bytes from `offset` on that the next start of the proxy cannot use. 0: it can use all.
  std::uint64_t lost_bytes = 0;
  std::string_view url;  // of the record, if its head is good; a client chose these bytes
};

struct Verified {
  std::uint64_t records = 0;  // good ones
  std::uint64_t bytes = 0;    // read
  std::uint64_t damages = 0;
};

// Reads the whole segment, checks every checksum, and calls `report` for each damage in order. If a
// crash cut the end of the newest segment, that is reported as damage, because the two look alike.
// Takes memory for the largest record; for a segment without footer, memory for the whole segment.
Verified verify(const File& file, std::uint32_t segment,
                const std::function<void(const Damage&)>& report);

}  // namespace proxy::cache::disk
