// The cache of the process: memory and, if the settings name one, a disk below it, which may take
// long or hang. Stores, finds and drops responses, whether or not there is a disk.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "proxy/cache/disk_tier/checked_bodies.hpp"
#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/cache/object.hpp"
#include "proxy/cache/storability.hpp"
#include "proxy/crowd/pressure.hpp"
#include "proxy/fill/fills.hpp"
#include "proxy/inspect/live.hpp"
#include "proxy/machine/channel.hpp"
#include "proxy/machine/clock.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/tiers/file_body.hpp"
#include "proxy/tiers/object_blocks.hpp"
#include "proxy/tiers/placement.hpp"

namespace proxy::cache {
class PurgePattern;
}

namespace proxy::tiers {

// What the cache consists of and uses. For the room that makes the cache, and for the pages, which
// report on memory and disk, and carry out the operator's orders. All other rooms use Cache. Any
// thread; whatever this refers to outlives it.
struct Tiers {
  machine::Clock& clock;
  cache::Budget& budget;  // of responses that are stored, or arriving to be stored
  cache::Store& store;
  cache::DiskTier* disk = nullptr;             // null: no disk is configured
  Placement* placement = nullptr;              // null: all duplicates are stored
  fill::Fills& fills;                          // know what was purged while it was fetched
  machine::succession::Successor successor{};  // has to forget, too, once the disk is its own
  net::Executor aside;                         // the thread that scans memory
  // The setting cache.max_object for bodies in blocks; a reload may change it.
  std::atomic<std::uint64_t> max_object{UINT64_MAX};
  // The limit of `budget` that the settings give, if allocations have failed since; else 0.
  std::atomic<std::uint64_t> reduced_from{0};
  crowd::LastTime found_no_room{};  // to store a response, though all that can be evicted was
};

// Memory and disk as one cache. Any thread may call any function. `tiers` outlives this object.
class Cache {
 public:
  explicit Cache(Tiers& tiers)
      : clock(tiers.clock),
        budget(tiers.budget),
        fills(tiers.fills),
        found_no_room(tiers.found_no_room),
        tiers_(tiers) {}

  machine::Clock& clock;
  cache::Budget& budget;  // of responses that are stored, or arriving to be stored
  fill::Fills& fills;
  crowd::LastTime& found_no_room;

  // Finds what memory has for a request with these fields. A look-up for a client is
  // CacheAccess::find().
  [[nodiscard]] cache::Found in_memory(const digest::Key& key, std::string_view name,
                                       const http::Fields& request) const {
    return tiers_.store.find(key, name, request);
  }
  // When a response of this URL ceased to be claimable, for a neighbour that asks for it in vain.
  [[nodiscard]] cache::Departed departed(const digest::Key& key, std::string_view name) const {
    return tiers_.store.departed(key, name);
  }
  // Whether memory has room for more of a response that is arriving. Evicts others for it.
  bool make_room() { return !budget.over() || tiers_.store.make_room(); }
  // Bytes of the longest body that memory stores in one piece.
  [[nodiscard]] std::uint64_t most_in_memory() const { return tiers_.store.max_object(); }

  // Stores the entry in memory and on disk, unless it was invalidated or purged after `asked`, when
  // its request was sent. A guest's response is stored in memory alone. Returns whether memory or
  // disk stores it. `superseded`: see Store::put(). If its OnDisk is null, store() looks it up in
  // the store.
  bool store(const digest::Key& key, const cache::Ref<const cache::Entry>& entry, AskedAt asked,
             const cache::Kept& superseded = {});
  // Why store() has not stored the entry: an invalidation, or memory and disk had no room.
  [[nodiscard]] cache::Storability why_not_kept(const digest::Key& key, const cache::Entry& entry,
                                                AskedAt asked) const {
    return was_purged(key, entry, asked) ? cache::Storability::outdated
                                         : cache::Storability::no_room;
  }
  // Drops the stored responses of the URL `name`, after a response has shown that they are
  // outdated. After a crash they may return.
  void drop(const digest::Key& key, std::string_view name);

  // Whether the disk may hold a response of this URL, whole or in blocks.
  [[nodiscard]] bool is_for_disk(const digest::Key& url_key) const {
    return tiers_.disk && tiers_.disk->admits(url_key);
  }
  // Bytes of the longest body that is stored in one piece under this key. A body that the disk does
  // not admit yet may be written at its second request, as one record, so it must fit one.
  [[nodiscard]] std::uint64_t most_in_one_piece(const digest::Key& url_key) const;

  // Whether clients asked for the URL before (Placement::was_asked_before()). Without placement,
  // nothing is left with a neighbour.
  [[nodiscard]] bool was_asked_before(const digest::Key& url_key) const {
    return tiers_.placement && tiers_.placement->was_asked_before(url_key);
  }
  bool leaves_there(config::Duplicates setting, const digest::Key& url_key, const Offer& offer) {
    return tiers_.placement && tiers_.placement->leaves_there(setting, url_key, offer);
  }

  // The blocks of objects (cache/object.hpp). `key` is always the URL's, also for a variant.
  // `object` is an entry of the object; its version selects the blocks. The object's entry itself
  // is stored, found and dropped like every other entry.

  // A body of more bytes than this is kept in blocks: cache::kLargeFrom, or the longest body that
  // memory stores whole, if that is less.
  [[nodiscard]] std::uint64_t large_from() const {
    return std::min(cache::kLargeFrom, most_in_memory());
  }
  // Whether a body of `length` bytes can be kept in blocks: the disk has room for such objects, and
  // the settings allow the length.
  [[nodiscard]] bool may_be_kept_in_blocks(std::uint64_t length) const;
  // The version of a new object. Only if there is a disk.
  std::uint64_t new_version() { return tiers_.disk->disk().new_version(); }
  // Whether the object may be stored still: it was neither dropped nor, as far as memory knows,
  // replaced by another version. Reads nothing.
  [[nodiscard]] bool may_have(const digest::Key& key, const cache::Entry& object) const;
  // Whether memory or the disk's index has the block. Reads nothing.
  [[nodiscard]] bool has_block(const digest::Key& key, const cache::Entry& object,
                               std::uint32_t number) const;
  // Stores the block in memory, and queues it for the disk.
  BlockKept store_block(const digest::Key& key, const cache::Ref<const cache::Entry>& object,
                        NewBlock block);
  // Stores a block as store_block() does, for an object whose entry is not stored yet. Does not
  // check whether the object or its giver was purged.
  BlockKept store_block_of_new(const digest::Key& key, const cache::Ref<const cache::Entry>& object,
                               NewBlock block);
  // Call this once after blocks of the object were kept; also meanwhile, if that takes long. If the
  // disk has all of them, our digest may claim the URL; if it has some, a part. The object may have
  // been purged or replaced meanwhile.
  void record_kept_blocks(const digest::Key& key, const cache::Entry& object) {
    if (tiers_.disk) tiers_.disk->disk().queue().doubt(key, object.object()->version);
  }

 private:
  friend class CacheAccess;

  // Whether the entry was invalidated or purged after `asked`.
  bool was_purged(const digest::Key& key, const cache::Entry& entry, AskedAt asked) const {
    return fills.outdated(key, entry.url(), asked, entry.giver().tag);
  }

  Tiers& tiers_;
};

// The question of a look-up.
struct Sought {
  digest::Key key;  // of the GET
  AskedAt asked;    // a time before the look-up
  cache::Bodies bodies = cache::Bodies::in_memory;
};
struct Stored {
  cache::Found found;
  bool from_disk = false;  // the look-up read the entry from disk
  // Set if the body was left in its file and may be sent: then `found` has only the head, and the
  // length of the body.
  std::shared_ptr<FileBody> body = {};
};
struct Forgotten {
  std::size_t dropped = 0;  // responses in memory, or 1 for a URL that only the disk stored
  bool owed = false;        // the disk failed, so after a crash they may return
};

// The means by which one thread reads memory and disk. Only files of this room use it.
struct Reader {
  Tiers& tiers;
  net::Executor executor;  // of the thread
  cache::CheckedBodies checked_bodies{};
};

// The cache as one I/O thread reads it. Belongs to that thread. Its functions may wait.
class CacheAccess {
 public:
  CacheAccess(Cache& of_all, net::Executor executor)
      : cache(of_all), reader_{of_all.tiers_, std::move(executor)} {}

  Cache& cache;

  // Looks a request up: memory, then the disk. Counts the request: Placement and cache::Admission
  // store some responses only once their URL is requested again. If the disk admits only such
  // responses (cache.disk.admit), an entry in memory is queued for the disk, unless it was queued
  // before. An entry on disk is stored in memory if there is room, or its body is left in the file.
  // A small entry that the page cache has is stored in full memory only if it was asked for lately.
  // Several such reads at once may still displace an entry. Finds nothing that was purged after
  // `asked`. Writes the result to `into`, which outlives the task. There is a task only if the disk
  // may have what memory lacks. The caller may await it later, or drop it to give up the disk.
  net::Soon<void> find(const policy::Request& request, const Sought& sought, Stored& into);
  // Reads the entry into memory, as find() does. Call this after find() has left the body in its
  // file.
  net::Task<void> find_whole(const policy::Request& request, Sought sought, Stored& into);
  // What find() would find. Is no look-up itself: counts nothing, and moves nothing between memory
  // and disk. If the disk cannot be read, what memory has, and the disk's error.
  struct Peeked {
    inspect::Peeked stored;
    std::optional<cache::disk::Error> disk_fault;
  };
  net::Task<Peeked> peek(const policy::Request& request);

  // Purges or invalidates the stored responses of `name` for good: responses that are being fetched
  // are not stored either, and a record on disk makes the removal last. Returns when the record is
  // written.
  net::Task<Forgotten> forget(const digest::Key& key, const std::string& name);
  // As above, for everything that the purge covers. Responses that only the disk stored are not
  // counted. Returns nothing if too many such purges are under way: then the disk's responses stay.
  // A purge of what a neighbour gave is never refused.
  net::Task<std::optional<Forgotten>> forget(const cache::PurgePattern& purge);

  // Returns the block, whole and checked. If it was read from the disk, does `then` with it, if
  // memory has room. Null: the block is not stored, is being purged, or the disk is too busy to
  // read it. A damaged block is dropped, counted and logged. The caller has a slot for the block:
  // see TransferSlots.
  net::Task<StoredBlock> read_block(digest::Key key, cache::Ref<const cache::Entry> object,
                                    std::uint32_t number, AfterRead then = AfterRead::adopt);
  // Returns the block in its file if the page cache has it. Waits for the disk if the block has
  // to be verified. Null: memory has the block, or read_block() has to supply it for another
  // reason. Takes no slot, since the block takes no memory.
  net::Task<std::shared_ptr<FileBody>> block_in_file(digest::Key key,
                                                     cache::Ref<const cache::Entry> object,
                                                     std::uint32_t number);
  // Waits while too many bytes are queued for the disk. Queued blocks take memory, and a block that
  // finds no memory is not stored. Returns at the latest when `patience` is used up, so a slower
  // disk misses some blocks.
  net::Task<void> let_the_disk_catch_up(std::shared_ptr<DiskPatience> patience);

  // Whether a response that is under way may go on to send the body from its file. If not, the body
  // is saved, or cannot be read any more.
  net::Task<bool> may_go_on(std::shared_ptr<FileBody> body);

 private:
  Reader reader_;
};

}  // namespace proxy::tiers
