// Memory and disk as one cache. These functions store, find and drop responses, whether or not
// there is a disk.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "digest/key.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

struct Process;
struct Worker;
class PurgePattern;

using AskedAt = std::chrono::steady_clock::time_point;

// Stores the entry in memory and on disk, unless it was invalidated or purged after `asked`, when
// its request was sent. Returns whether memory or disk stores it. `superseded`: as Store::put().
bool keep(Process& process, const digest::Key& key,
          const std::shared_ptr<const cache::Entry>& entry, AskedAt asked,
          const cache::Entry* superseded = nullptr);

// If the disk admits only responses that are requested twice (setting cache.disk.admit), the caller
// notes each request before it looks the key up, and then offers the entry that memory has for it:
// that entry is written now, unless it was before. Otherwise both do nothing.
void note_asked(const Process& process, const Request& request, const digest::Key& key);
void offer_to_disk(Process& process, const digest::Key& key,
                   const std::shared_ptr<const cache::Entry>& stored);

// Drops the stored responses of `name`, a URL, which a response has shown to be outdated. After a
// crash they may be back.
void drop(Process& process, const digest::Key& key, const std::string& name);

struct Forgotten {
  std::size_t dropped = 0;  // responses that memory stored, or 1 for a URL that only the disk did
  bool owed = false;  // the disk failed: after a crash before it works again, they may be back
};
// Purges or invalidates the stored responses of `name` for good: responses that are being fetched
// are not stored either, and a record on disk makes it last. Returns when that is written.
net::Task<Forgotten> forget(Worker& worker, const digest::Key& key, const std::string& name);
// The same for every URL that the purge covers. Responses that only the disk stored are not
// counted. Nothing, if too many such purges are under way: then nothing is purged.
net::Task<std::optional<Forgotten>> forget(Worker& worker, const PurgePattern& purge);

// Whether memory has no entry for the request, but the disk may have one: then call read_back().
// `found`: in memory.
bool may_be_below(const Process& process, const Request& request, const digest::Key& key,
                  const cache::Found& found);
struct FoundBelow {
  cache::Found found;
  bool from_disk = false;  // this call read the entry from there
};
// Reads the entry from disk; memory stores it then, if there is room. Returns `found` as it was if
// the disk has no entry either, or it was purged after `asked`, a time before memory was searched.
net::Task<FoundBelow> read_back(Worker& worker, const Request& request, digest::Key key,
                                cache::Found found, AskedAt asked);

}  // namespace proxy
