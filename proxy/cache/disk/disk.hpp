// The cache on disk.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proxy/cache/disk/catalog/catalog.hpp"
#include "proxy/cache/disk/catalog/stored_record.hpp"
#include "proxy/cache/disk/log/loading.hpp"
#include "proxy/cache/disk/options.hpp"
#include "proxy/cache/disk/write_queue.hpp"
#include "proxy/cache/disk/writer.hpp"
#include "proxy/cache/disk/writer_watch.hpp"

namespace proxy::cache::disk {

using Done = std::function<void(Result<void>)>;

// Look-ups and reads happen on the caller's thread; writes are queued for the writer's thread. An
// entry is found once it is written: until then the memory has to hold it. Reads verify checksums.
// A failing disk never makes a request fail: the disk rests, the cache is smaller or empty
// meanwhile, and goes on by itself. Any thread may call any function, but for start() and end().
class Disk {
 public:
  explicit Disk(Options options);

  // Starts the writer, and returns when it has read the directory. `in_use`, `too_small`: not
  // started, as a setting has to change. `hangs`: that takes longer than Options::longest_start;
  // entries are found once it is done. After any other error the disk rests and tries again. Once,
  // or again after `in_use`.
  Result<Loaded> start();
  // Writes what waits and seals the newest segment; for good. The destructor does it, too, but
  // waits for a disk that hangs.
  [[nodiscard]] Writer::End end() { return writer_.end(); }
  // Rests also while the writer hangs.
  State state() const { return watch_.state(); }

  // Where the entry lies that is found under this key; this counts as a use. Nothing where a purge
  // covers it, written or not. `url` is for purges by prefix: the caller compares it with the
  // record's own.
  std::optional<Location> find(const Key& key, std::string_view url);
  // Whether the entry is still found there. For a caller that keeps what it has read elsewhere; ask
  // once it is there, so that no purge comes between.
  bool holds(const Key& key, std::string_view url, Position at) const;
  // Reads the head of what was found. A record that is corrupt, or without its body, is dropped and
  // counted. `would_block`: call again with Wait::yes on a thread that may wait (ReadPool).
  Result<StoredRecord> open(const Key& key, const Location& location, Wait wait);
  Result<void> read_body(const StoredRecord& stored, std::span<const std::span<std::uint8_t>> into,
                         Wait wait);
  // Reads head and body to see whether they are as they were written. Waits for the disk. A damaged
  // record is dropped and counted. `url`: set to the record's, where its head is good. `gone`: it
  // was dropped or replaced meanwhile.
  Result<void> check(const Key& key, const Location& location, std::string& url);
  // Drops a record that cannot be used and counts the reason: `corrupt`, `gone`, or what the system
  // said. Whether the record was still there.
  bool drop(const Key& key, const Location& location, Error reason);

  // Queues a record. It is found under its key once record.done is told so: about a second later at
  // most. `busy`, as that would take longer, or `resting`: refused, and record.done is not called.
  Result<void> append(NewRecord record);
  // Queues what replaces the entry. That is not found any more from now on, and purged where the
  // record is refused or cannot be written.
  Result<void> replace(NewRecord record);
  // Queues a newer head of the entry, which is found until the head is written. The entry is purged
  // where the head is refused or cannot be written.
  Result<void> freshen(NewRecord record);
  // Whether an entry may be found under the key, now or once all that waits is written.
  bool may_hold(const Key& key) const;

  // Purges what is found under the key. It is not found from now on. `done` is told when the record
  // of the purge is written: from then on a crash does not bring the entry back, and only then may
  // a client be told. After an error the purge counts in memory and is written when the disk works
  // again. Where too much waits, everything is purged, and `done` is told `busy` at once.
  void purge(const Key& key, Done done);
  // Purges every entry whose URL the text covers (Options::purge_reading). They are not found from
  // now on. They are not claimed either, at the latest after a second. `busy`: refused, as
  // there are too many such purges already.
  Result<void> purge_prefix(std::string_view text, Done done);

  // A block of this object, by its URL's key and version, is lost: nobody is told any more that the
  // whole object is here, and soon a record says so.
  void lose_block(const Key& object, std::uint64_t version);
  // Blocks of this object were added: if all are here, neighbours may be told soon.
  void review_claim(const Key& object, std::uint64_t version) { queue_.doubt(object, version); }

  // A version for a large object: never the same twice, across starts too.
  std::uint64_t new_version() { return next_version_.fetch_add(1, std::memory_order_relaxed); }

  // As WriteQueue's.
  bool when_taken(std::uint64_t more_than, std::function<void()> taken) {
    return queue_.when_taken(more_than, std::move(taken));
  }
  std::uint64_t queued_bytes() const { return queue_.bytes(); }
  bool settle(std::chrono::milliseconds limit) { return queue_.settle(limit); }

  // The longest record that a segment has room for: header, URL, head and body.
  std::uint64_t most_bytes() const { return longest_record(limits_.segment_bytes); }

  Catalog& catalog() { return catalog_; }
  const Catalog& catalog() const { return catalog_; }

 private:
  const Options options_;
  const LogLimits limits_;
  std::atomic<std::uint64_t> next_version_;  // begins at random
  Catalog catalog_;
  WriterWatch watch_;
  WriteQueue queue_;
  Writer writer_;  // last: its thread uses all others
};

}  // namespace proxy::cache::disk
