// Memory and disk as one cache. These functions store, find and drop responses, whether or not
// there is a disk.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "digest/key.hpp"
#include "proxy/cache/disk_tier/entry_reader.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/cache/storability.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/tiers/file_body.hpp"

namespace proxy::cache {
class PurgePattern;
}

namespace proxy::tiers {

struct Cache;
struct CacheAccess;

using AskedAt = std::chrono::steady_clock::time_point;

// Stores the entry in memory and on disk, unless it was invalidated or purged after `asked`, when
// its request was sent. A guest's response is stored in memory alone. Returns whether memory or
// disk stores it. `superseded`: see Store::put(). If its OnDisk is null, keep() looks it up in the
// store.
bool keep(Cache& cache, const digest::Key& key, const cache::Ref<const cache::Entry>& entry,
          AskedAt asked, const cache::Kept& superseded = {});

// Why keep() has not stored the entry: an invalidation, or memory and disk had no room.
cache::Storability why_not_kept(Cache& cache, const digest::Key& key, const cache::Entry& entry,
                                AskedAt asked);

// Counts a request, for what is stored only if its URL is requested again: see Placement and
// cache::Admission. The caller calls record_asked() before it looks the key up, then
// offer_to_disk() with the entry that memory has. If the disk admits only responses requested twice
// (setting cache.disk.admit), an offered entry is written unless it was written before. For other
// disks, offer_to_disk() does nothing.
void record_asked(const Cache& cache, const policy::Request& request, const digest::Key& key);
void offer_to_disk(Cache& cache, const digest::Key& key, const cache::Found& found);

// Drops the stored responses of the URL `name`, after a response has shown that they are outdated.
// After a crash they may return.
void drop(Cache& cache, const digest::Key& key, std::string_view name);

// Whether the disk may hold a response of this URL, whole or in blocks.
bool is_for_disk(const Cache& cache, const digest::Key& url_key);
// Bytes of the longest body that is stored in one piece under this key. A body that the disk does
// not admit yet may be written at its second request, as one record, so it must fit one.
std::uint64_t most_in_one_piece(const Cache& cache, const digest::Key& url_key);

struct Forgotten {
  std::size_t dropped = 0;  // responses in memory, or 1 for a URL that only the disk stored
  bool owed = false;        // the disk failed, so after a crash they may return
};
// Purges or invalidates the stored responses of `name` for good: responses that are being fetched
// are not stored either, and a record on disk makes the removal last. Returns when the record is
// written.
net::Task<Forgotten> forget(CacheAccess& access, const digest::Key& key, const std::string& name);
// As forget(), for everything that the purge covers. Responses that only the disk stored are not
// counted. Returns nothing if too many such purges are under way: then the disk's responses stay. A
// purge of what a neighbour gave is never refused.
net::Task<std::optional<Forgotten>> forget(CacheAccess& access, const cache::PurgePattern& purge);

// Whether memory has no entry for the request, but the disk may have one. If so, call read_back().
// `found`: the result of the look-up in memory.
bool may_be_on_disk(const Cache& cache, const policy::Request& request, const digest::Key& key,
                    const cache::Found& found);
// What read_back() looks for.
struct Sought {
  digest::Key key;
  cache::Found found;  // what memory has: no entry
  AskedAt asked;       // a time before memory was searched
  cache::Bodies bodies;
};
struct FoundBelow {
  cache::Found found;
  bool from_disk = false;  // this call read the entry from disk
  // Set if the body was left in its file and may be sent: then `found` has only the head, and the
  // length of the body.
  std::shared_ptr<FileBody> body = {};
};
// Reads the entry from disk, and stores it in memory if there is room, or leaves its body in the
// file. A small entry that the page cache has is stored in full memory only if it was asked for
// lately. Several such reads at once may still displace an entry.
// Returns `found` without an entry if the disk has none either, or if the entry was purged after
// `asked`.
net::Task<FoundBelow> read_back(CacheAccess& access, const policy::Request& request, Sought sought);

}  // namespace proxy::tiers
