// Makes records of entries and queues them for the disk.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "proxy/cache/disk/disk.hpp"
#include "proxy/cache/entry.hpp"

namespace proxy::cache {

// Any thread; for one key, the caller holds its lock.
class EntryWriter {
 public:
  // A generous bound on the bytes of a record beside URL, head and body.
  static constexpr std::uint64_t kFixed = 64 * 1024;

  // The disk outlives the writer.
  explicit EntryWriter(disk::Disk& disk) : disk_(disk) {}

  enum class Taken : std::uint8_t {
    yes,
    no,  // the entry is too large, or a part, or the queue is full; the old one is purged
  };
  // Queues the entry in place of the key's present one. `superseded`: the entry of which this may
  // be only a newer head; if both share the body, the head alone is written. `selector`: the number
  // of the selector that leads to the entry, else 0.
  Taken write(const disk::Key& key, const std::shared_ptr<const Entry>& entry,
              const Entry* superseded, std::uint64_t selector);
  // Bytes of the longest body that may be written as one record.
  std::uint64_t most_whole() const;

 private:
  bool fits(const Entry& entry) const;
  Taken write_object(disk::NewRecord record, const Entry& entry, const Entry* superseded);
  Taken write_head(disk::NewRecord record, const std::shared_ptr<const Entry>& entry,
                   const Entry& superseded);

  disk::Disk& disk_;
};

// The body of the entry, which the pieces keep alive.
std::vector<disk::Piece> pieces_of(const std::shared_ptr<const Entry>& entry);

}  // namespace proxy::cache
