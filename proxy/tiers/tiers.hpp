// Memory and disk as one cache: who stores, drops and looks up goes by these, and need not know
// whether there is a disk.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "digest/key.hpp"
#include "proxy/cache/entry.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

struct Shared;
struct Worker;
class Ban;

using Asked = std::chrono::steady_clock::time_point;

// Stores what was asked for then, unless it was invalidated or purged since: whether it is stored.
// `superseded`: as Store::put().
bool keep(Shared& shared, const digest::Key& key, const std::shared_ptr<const cache::Entry>& entry,
          Asked asked, const cache::Entry* superseded = nullptr);

// Where the disk takes only what is asked for again (setting cache.disk.admit): to be told of each
// request for what may be stored under the key, before it is looked up; and of what memory has for
// it then, which is written now if it was not.
void note_asked(const Shared& shared, const Request& request, const digest::Key& key);
void admit_held(Shared& shared, const digest::Key& key,
                const std::shared_ptr<const cache::Entry>& held);

// Drops what is stored under the name, as a response has shown it to be outdated. A crash may
// bring it back.
void drop(Shared& shared, const digest::Key& key, const std::string& name);

struct Forgotten {
  std::size_t dropped = 0;  // responses that memory held, or 1 of a URL that the disk alone did
  bool owed = false;        // the disk failed: a crash before it is back may bring them back
};
// Purges or invalidates what is stored under the name, for good: what is being fetched is not
// stored either, and it ends when the disk has a record of it.
net::Task<Forgotten> forget(Worker& worker, const digest::Key& key, const std::string& name);
// The same for all that the ban covers; what only the disk held is not counted. Nothing: too many
// such purges are being carried out, and this one is not.
net::Task<std::optional<Forgotten>> forget(Worker& worker, const Ban& ban);

// Whether the disk may have what answers this request, where memory has not: then read_back() it.
bool may_be_below(const Shared& shared, const Request& request, const digest::Key& key,
                  const cache::Found& found);
struct FoundBelow {
  cache::Found found;
  bool from_disk = false;  // the entry was read from the disk for this request
};
// What is found once the disk was asked, which is in memory then, if there is room. `asked`: before
// memory was looked at.
net::Task<FoundBelow> read_back(Worker& worker, const Request& request, digest::Key key,
                                cache::Found found, Asked asked);

}  // namespace proxy
