// Reads entries back from the disk, and keeps decoded heads while their bodies are left in their
// files.
#pragma once

#include <array>
#include <boost/core/noncopyable.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "peers/threads/mutex.hpp"
#include "proxy/cache/disk/disk.hpp"
#include "proxy/cache/disk/stored_record.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/cache/saved_head.hpp"
#include "proxy/cache/store.hpp"

namespace proxy::cache {

// The facts that a hit needs of a record whose head was read and decoded before.
struct KnownHead {
  // `front`: the segment of the record that has the head.
  KnownHead(Ref<const Entry> its_entry, std::uint64_t its_selector, disk::StoredBody body,
            const std::shared_ptr<const disk::Segment>& front);

  // Returns the body. Nothing if the segment of the head or of the body was reclaimed, or if its
  // number now stands for a segment of another directory: the caller then reads the head anew.
  std::optional<disk::StoredBody> body(const disk::Segments& segments) const;

  const Ref<const Entry> entry;  // without its body, but with its length
  const std::uint64_t selector;  // as in SavedHead
  const disk::StoredBody place;  // of the body, without its segment

 private:
  using Segment = std::weak_ptr<const disk::Segment>;  // a reclaimed one is closed all the same

  Segment front_segment_;
  Segment body_segment_;
};

// The heads by the positions of their records. The bytes at a position never change, so a head is
// never outdated: if the entry is replaced, refreshed, purged or dropped, look-ups in the index
// find another position, or none. Such a head stays until the table needs its room. Takes at most
// an eighth of the budget, and forgets the heads that were not used of late (CLOCK). Any thread.
class KnownHeads : boost::noncopyable {
 public:
  using Head = std::shared_ptr<const KnownHead>;

  // The budget outlives the table.
  explicit KnownHeads(Budget& budget) : budget_(budget) {}
  ~KnownHeads() { clear(); }

  // The head of the record at this position, or null. Counts as a use.
  Head find(disk::Position at);
  // Keeps the head, unless it is large.
  void record(Head head);
  // Forgets all.
  void clear();
  // The memory of all heads.
  std::uint64_t bytes() const;

 private:
  struct Slot {
    Head head;
    bool used = false;
  };
  struct Shard {
    mutable threads::Mutex mutex;
    std::unordered_map<std::uint64_t, Slot> heads GUARDED_BY(mutex);  // by position
    std::deque<std::uint64_t> order GUARDED_BY(mutex);                // the next to forget first
    std::uint64_t bytes GUARDED_BY(mutex) = 0;
  };
  static constexpr std::size_t kShards = 16;

  Shard& shard_of(std::uint64_t at);
  std::vector<Head> forget_some(Shard& shard) REQUIRES(shard.mutex);

  Budget& budget_;
  std::array<Shard, kShards> shards_;
};

// The result of a read.
struct ReadBack {
  struct Seen {
    disk::Key key;
    disk::Position at;
  };

  Ref<const Entry> entry;           // null: nothing answers this request
  std::shared_ptr<OnDisk> on_disk;  // of the entry
  // The body, if it was left in its file: then the entry has only the body's length, and must not
  // be stored.
  std::optional<disk::StoredBody> in_file;
  bool varies = false;          // the URL is on disk, but in no variant that matches
  std::optional<Seen> by;       // the record under the URL's key
  std::optional<Seen> variant;  // the record of the variant
};

// Whether bodies are read into memory, or those of at least EntryReader::kLeftFrom bytes are left
// in their files.
enum class Bodies : std::uint8_t { in_memory, large_in_file };

// Reads entries from the disk. Any thread may call any function.
class EntryReader {
 public:
  // An I/O thread reads and checks no more than this at a time.
  static constexpr std::uint32_t kReadAtOnce = 256 * 1024;
  // The least body that costs less to send from its file than to write from memory (row disk-100k
  // of tests/bench/compare).
  static constexpr std::uint32_t kLeftFrom = 64 * 1024;

  // Both arguments outlive the reader.
  EntryReader(Budget& budget, disk::Disk& disk) : budget_(budget), disk_(disk), heads_(budget) {}

  // Adds the entry of the record `seen` to `read`, with its body in its file, if an earlier read
  // left it there and its head is still known. `selector`: the number of the selector that leads to
  // the record, else 0. Returns false if the record has to be read.
  bool add_known(ReadBack& read, const ReadBack::Seen& seen, std::uint64_t selector,
                 std::string_view url, http::NormalForms& request);

  // Opens the record at the location. `gone`: the record is of another URL, whose key collides.
  disk::Result<disk::StoredRecord> open(ReadBack::Seen& seen, const disk::Location& location,
                                        std::string_view url, disk::Wait wait);
  // The parts of an entry to read.
  struct Wanted {
    disk::StoredRecord stored;
    SavedHead saved;
    Bodies bodies = Bodies::in_memory;
  };
  // Adds the entry to `read`: charges its bytes and makes room for them in `memory`. If memory has
  // no room, returns `read` without an entry.
  disk::Result<ReadBack> read_entry(ReadBack read, Wanted wanted, Store& memory, disk::Wait wait);
  // `busy`: memory has no room. A block is read even then: its reader has a transfer slot, and
  // slots bound the blocks in memory. `would_block`: with Wait::no, also for a long body, since its
  // checksum takes time.
  disk::Result<Body> read_body(const disk::StoredRecord& stored, Store& memory, disk::Wait wait);
  disk::Result<Body> read_body(const disk::StoredBody& stored, Store& memory, disk::Wait wait);

  // Forgets all known heads, so that each is read anew.
  void forget_known() { heads_.clear(); }

 private:
  enum class Room : std::uint8_t { to_be_made, is_there };
  template <class Stored>
  disk::Result<Body> read(const Stored& stored, std::uint32_t bytes, Room room, Store& memory,
                          disk::Wait wait);
  void leave_in_file(ReadBack& read, const Wanted& wanted, const Ref<Entry>& entry);

  Budget& budget_;
  disk::Disk& disk_;
  KnownHeads heads_;
};

}  // namespace proxy::cache
