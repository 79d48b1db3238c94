// The cache on disk, as the proxy uses it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "digest/random_words.hpp"
#include "proxy/cache/disk/catalog.hpp"
#include "proxy/cache/disk/loading.hpp"
#include "proxy/cache/disk/options.hpp"
#include "proxy/cache/disk/pace.hpp"
#include "proxy/cache/disk/stored_record.hpp"
#include "proxy/cache/disk/write_queue.hpp"
#include "proxy/cache/disk/writer.hpp"

namespace proxy::cache::disk {

using Done = std::function<void(Result<void>)>;

// Look-ups and reads happen on the caller's thread; writes are queued for the writer's thread. An
// entry is found only after it is written: until then the caller has to keep it in memory. Reads
// verify checksums. A failing disk never makes a request fail: the disk rests for a time, finds
// less or nothing meanwhile, and then tries again by itself. Any thread may call any function
// except start() and end().
class Disk {
 public:
  // Whether a start fails, or lets the disk rest, while another process has the directory.
  enum class InUse : std::uint8_t { fails, rests };

  // The clock outlives the disk. The constructor alone uses `random`.
  Disk(machine::Clock& clock, Options options, const digest::RandomWords& random);

  // Starts the writer, and returns when it has read the directory. Errors:
  // - `in_use`, `too_small`: the writer is not started; the operator has to change a setting. With
  //   InUse::rests, `in_use` is treated as the last kind below.
  // - `hangs`: reading takes longer than Options::longest_start. Entries are found once it is done.
  // - Any other: the disk rests, and tries again by itself.
  // Call start() once, and again only after InUse::fails or end().
  Result<Loaded> start(InUse in_use = InUse::fails);
  // Writes all queued records, seals the newest segment, ends the writer, and leaves the directory
  // to other processes. What was found before is still found, unless they have removed it. Records
  // are refused, and purges wait for the next start(). The destructor does the same, but waits even
  // for a disk that hangs.
  [[nodiscard]] Writer::End end() { return writer_.end(); }
  // A writer that hangs counts as resting.
  State state() const { return watch_.state(); }

  // Finds the location of the entry with this key, and counts a use. Nothing if a purge covers the
  // entry, whether or not the purge is written yet. `url` serves to apply purges by prefix; the
  // caller must still compare it with the URL in the record.
  std::optional<Location> find(const Key& key, std::string_view url);
  // Whether the entry is still found at this position. A caller that copies the entry elsewhere
  // asks after the copy is in place: then no purge goes unnoticed.
  bool holds(const Key& key, std::string_view url, Position at) const;
  // Reads the head of the entry at this location. A record that is corrupt, or has lost its body,
  // is dropped and counted. `gone`: also an entry whose giver a purge covers, which find() cannot
  // know; the entry is purged. `would_block`: call again with Wait::yes on a thread that may wait
  // (ReadPool).
  Result<StoredRecord> open(const Key& key, const Location& location, Wait wait);
  // Reads and checks the body. If that fails, drops the entry.
  Result<void> read_body(const StoredRecord& stored, std::span<const std::span<std::uint8_t>> into,
                         Wait wait);
  Result<void> read_body(const StoredBody& stored, std::span<const std::span<std::uint8_t>> into,
                         Wait wait);
  // Reads head and body and verifies their checksums. Waits for the disk. A damaged record is
  // dropped and counted. If the head is good, sets `url` to the record's URL. `gone`: the record
  // was dropped or replaced meanwhile.
  Result<void> check(const Key& key, const Location& location, std::string& url);
  // Drops a record that cannot be used and counts the reason: `corrupt`, `gone`, or an error of the
  // system. Returns whether the record was still there.
  bool drop(const Key& key, const Location& location, Error reason);

  // Queues a record. It is found under its key once record.done is called with its position: about
  // a second later at most. `busy`: refused, because writing it would take longer. `resting`:
  // refused, too. A refusal does not call record.done.
  Result<void> append(NewRecord record);
  // Queues a record that replaces the entry. The old entry is not found from now on. If the record
  // is refused or cannot be written, the entry is purged.
  Result<void> replace(NewRecord record);
  // Queues a newer head of the entry. The entry is found with its old head until the new one is
  // written. If the head is refused or cannot be written, the entry is purged.
  Result<void> freshen(NewRecord record);
  // Whether an entry may be found under the key, now or after all queued records are written.
  bool may_hold(const Key& key) const;

  // Purges the entry with this key. It is not found from now on. `done` is called when the record
  // of the purge is written: from then on the entry stays away even after a crash, so only then may
  // a client be told of success. After an error the purge counts in memory, and is written when the
  // disk works again. If too much waits to be written, everything is purged, and `done` gets `busy`
  // at once.
  void purge(const Key& key, Done done);
  // Purges every entry whose URL or giver the text covers (Options::purge_reading). These entries
  // cannot be opened from now on, and at the latest after a second they are not claimed either.
  // `busy`: refused, because there are too many such purges already. With room that is reserved, up
  // to PurgeRules::kReserved short texts are never refused.
  Result<void> purge_prefix(std::string_view text, Done done,
                            PurgeRules::Room room = PurgeRules::Room::shared);

  // A block of an object is lost: the object is not claimed from now on, and soon a record says so.
  // `object`: the key of its URL.
  void lose_block(const Key& object, std::uint64_t version);
  // A new version for a large object: never the same twice, not even after a restart.
  std::uint64_t new_version() { return next_version_.fetch_add(1, std::memory_order_relaxed); }

  // The records that wait to be written.
  WriteQueue& queue() { return queue_; }
  const WriteQueue& queue() const { return queue_; }

  // The most bytes of all files, and the most entries in the index, as Options::log has them. A
  // disk that is larger by then is reduced soon, the oldest segments first. `too_small`: nothing
  // changes.
  Result<void> resize(std::uint64_t bytes, std::size_t entries);

  // The longest record that a segment has room for: header, URL, head and body. Records that were
  // queued before a resize() to a smaller size may be too long.
  std::uint64_t most_bytes() const {
    return longest_record(segment_bytes_.load(std::memory_order_relaxed));
  }

  Catalog& catalog() { return catalog_; }
  const Catalog& catalog() const { return catalog_; }

 private:
  const Options options_;
  const LogLimits limits_;                    // at the start
  std::atomic<std::uint32_t> segment_bytes_;  // of further segments
  std::atomic<std::uint64_t> next_version_;   // begins at random
  Catalog catalog_;
  WriterWatch watch_;
  WriteQueue queue_;
  Writer writer_;  // last: its thread uses all others
};

}  // namespace proxy::cache::disk
