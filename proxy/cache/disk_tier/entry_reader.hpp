// Reads entries back from the disk.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "proxy/cache/disk/disk.hpp"
#include "proxy/cache/saved_head.hpp"
#include "proxy/cache/store.hpp"

namespace proxy::cache {

// What was read back.
struct ReadBack {
  struct Seen {
    disk::Key key;
    disk::Position at;
  };

  std::shared_ptr<const Entry> entry;  // null: nothing answers this request
  bool varies = false;                 // the URL is on disk, but in no variant that matches
  std::optional<Seen> by;              // the record that was found under the URL's key,
  std::optional<Seen> variant;         // and that of the variant
};

// Any thread.
class EntryReader {
 public:
  // Both outlive the reader.
  EntryReader(Budget& budget, disk::Disk& disk) : budget_(budget), disk_(disk) {}

  // The record found there. `gone`: it is of another URL, whose key collides.
  disk::Result<disk::StoredRecord> open(ReadBack::Seen& seen, const disk::Location& location,
                                        std::string_view url, disk::Wait wait);
  // `read` with its entry, whose bytes are charged, and room made for them in `memory`; without
  // one where memory has no room.
  disk::Result<ReadBack> read_entry(ReadBack read, const disk::StoredRecord& stored,
                                    SavedHead saved, Store& memory, disk::Wait wait);
  // `busy`: memory has no room. A block is read in any case: whoever reads blocks bounds how many
  // are in memory. `would_block`: without waiting, also where the body is long, as its checksum
  // takes time.
  disk::Result<Body> read_body(const disk::StoredRecord& stored, Store& memory, disk::Wait wait);

 private:
  Budget& budget_;
  disk::Disk& disk_;
};

}  // namespace proxy::cache
