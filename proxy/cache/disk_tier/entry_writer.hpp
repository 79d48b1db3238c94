// Makes records of entries and queues them for the disk.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "proxy/cache/disk/disk.hpp"
#include "proxy/cache/entry.hpp"

namespace proxy::cache {

// Any thread may call any function, but holds the lock of the key.
class EntryWriter {
 public:
  // A generous bound on the bytes of a record beside URL, head and body.
  static constexpr std::uint64_t kFixed = 64 * 1024;

  // Called on the disk's thread once the disk finds the entry under the key.
  using Written = std::function<void(const disk::Key&, const Entry&)>;

  // The disk outlives the writer.
  EntryWriter(disk::Disk& disk, Written written) : disk_(disk), written_(std::move(written)) {}

  enum class Taken : std::uint8_t {
    yes,
    no,  // the entry is too large, or a part, or the queue is full; the old one is purged
  };
  // Queues the response in place of the key's present one, and notes in its OnDisk where it is
  // written. `superseded`: the response whose body this one may share. If both share the body, and
  // the OnDisk of `superseded` has its position, only the head is written. Both pointers of
  // `superseded` may be null. `selector`: the number of the selector that leads to the entry, else
  // 0.
  Taken write(const disk::Key& key, const Kept& response, const Kept& superseded,
              std::uint64_t selector);
  // Bytes of the longest body that may be written as one record.
  std::uint64_t most_whole() const;

 private:
  bool fits(const Entry& entry) const;
  // The record of `superseded`, if its body is the entry's, too.
  std::optional<disk::Position> shared_body(const disk::Key& key, const Entry& entry,
                                            const Kept& superseded) const;

  disk::Disk& disk_;
  const Written written_;
};

// The body of the entry, which the pieces keep alive.
std::vector<disk::RecordPiece> pieces_of(const Ref<const Entry>& entry);

}  // namespace proxy::cache
