// The blocks of objects (cache/object.hpp), in memory and on disk.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "digest/key.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/tiers/file_body.hpp"
#include "proxy/tiers/tiers.hpp"

namespace proxy::tiers {

struct Cache;
struct CacheAccess;

// `key` is always the URL's, also for a variant. `object` is an entry of the object; its version
// selects the blocks. The object's entry itself is stored, found and dropped like every other entry
// (tiers.hpp).

// A body of more bytes than this is kept in blocks: cache::kLargeFrom, or the longest body that
// memory stores whole, if that is less.
std::uint64_t large_from(const Cache& cache);
// Whether a body of `length` bytes can be kept in blocks: the disk has room for such objects, and
// the settings allow the length.
bool may_be_kept_in_blocks(const Cache& cache, std::uint64_t length);

// The version of a new object. Only if there is a disk.
std::uint64_t new_version(const Cache& cache);

// Whether memory or the disk's index has the block. Reads nothing.
bool has_block(const Cache& cache, const digest::Key& key, const cache::Entry& object,
               std::uint32_t number);

struct StoredBlock {
  cache::Ref<const cache::Entry> block;  // its body is the block's bytes
  bool from_disk = false;                // this call read the block from disk
};
// Returns the block, whole and checked, and stores it in memory if there is room. Null: the block
// is not stored, is being purged, or the disk is too busy to read it. A damaged block is dropped,
// counted and logged. The caller has a slot for the block: see TransferSlots.
net::Task<StoredBlock> read_block(CacheAccess& access, digest::Key key,
                                  cache::Ref<const cache::Entry> object, std::uint32_t number);

// Returns the block in its file if may_be_sent() allows it. Waits for the disk if the block has to
// be verified. Null: memory has the block, or read_block() has to supply it for another reason.
// Takes no slot, since the block takes no memory.
net::Task<std::shared_ptr<FileBody>> block_in_file(CacheAccess& access, digest::Key key,
                                                   cache::Ref<const cache::Entry> object,
                                                   std::uint32_t number);

enum class BlockKept : std::uint8_t {
  yes,
  no,  // neither memory nor disk took the block, or the object was purged meanwhile
};
// A whole block that has arrived.
struct NewBlock {
  std::uint32_t number = 0;
  cache::Body bytes;
  cache::Giver giver = {};
  AskedAt asked = {};  // when the block was asked for; matters only if a neighbour gave it
};
// Stores the block in memory, and queues it for the disk.
BlockKept keep_block(Cache& cache, const digest::Key& key,
                     const cache::Ref<const cache::Entry>& object, NewBlock block);
// As keep_block(), for an object whose entry is not stored yet. Does not check whether the object
// or its giver was purged.
BlockKept keep_block_of_new(Cache& cache, const digest::Key& key,
                            const cache::Ref<const cache::Entry>& object, NewBlock block);

// How long one response waits for the disk to write its blocks. The total is one second, plus the
// time that the response has taken without such waits: a slow disk at most doubles that time, and
// adds a second. Any thread.
class DiskPatience {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::milliseconds;

  explicit DiskPatience(Time begun) : begun_(begun) {}

  static constexpr Duration kAtOnce{1'000};

  // How long the response may still wait.
  [[nodiscard]] Duration left(Time now) const {
    const Duration waited = waited_;
    const auto without = std::chrono::floor<Duration>(now - begun_) - waited;
    return kAtOnce + without - waited;
  }
  // Counts a wait that has ended.
  void record(Duration waited) { waited_ = waited_.load() + waited; }

 private:
  const Time begun_;
  std::atomic<Duration> waited_{Duration(0)};
};

// Waits while too many bytes are queued for the disk. Queued blocks take memory, and a block that
// finds no memory is not stored. Returns at the latest when `patience` is used up, so a slower disk
// misses some blocks.
net::Task<void> let_the_disk_catch_up(CacheAccess& access, std::shared_ptr<DiskPatience> patience);

// Call this once after blocks of the object were kept; also meanwhile, if that takes long. If the
// disk has all of them, our digest may claim the URL; if it has some, a part. The object may have
// been purged or replaced meanwhile.
void record_kept_blocks(Cache& cache, const digest::Key& key, const cache::Entry& object);

}  // namespace proxy::tiers
