#include "proxy/tiers/tiers.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/cache/purge_pattern.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/tiers/cache.hpp"

namespace proxy::tiers {

using net::Task;
namespace disk = cache::disk;

namespace {

constexpr std::chrono::seconds kLongestPurge{5};

enum class Waited : bool { no, yes };

// A yes that another thread gives, or a no, for a coroutine that waits. Both own it.
struct Answer {
  explicit Answer(net::Executor executor) : come(executor) {}
  void give(bool is_yes) {
    yes = is_yes;
    come.notify();
  }

  net::Wakeup come;
  std::atomic<bool> yes = false;
};
using Awaited = std::shared_ptr<Answer>;

// Waits for at most kLongestPurge. No answer is a no.
Task<bool> is_yes(Awaited answer) {
  co_await answer->come.wait(kLongestPurge);
  co_return answer->yes;
}

disk::Done told(Awaited answer) {
  return [answer](disk::Result<void> written) { answer->give(written.has_value()); };
}

// Whether a purge may be undone after a crash: its record could not be written in time. A disk that
// hangs delays the answer by at most kLongestPurge, or not at all if the hang is known already.
// Once the disk is our successor's, the successor has to forget, too. `written`: null if no record
// is waited for.
Task<bool> is_owed(CacheAccess& access, Awaited written, machine::succession::MessageKind kind,
                   std::string_view text) {
  auto& cache = access.cache;
  bool owed = false;
  if (written) owed = !cache.disk->state().working;
  if (written && !owed) {
    const bool is_written = co_await is_yes(written);
    owed = !is_written;
  }
  if (!cache.successor.exists()) co_return owed;
  const auto forgot = std::make_shared<Answer>(access.executor);
  const auto give = [forgot](bool is_yes) { forgot->give(is_yes); };
  if (!cache.successor.tell(kind, text, give)) co_return true;
  const bool has_forgotten = co_await is_yes(forgot);
  co_return !has_forgotten;
}

Task<std::size_t> drop_purged(cache::Store& store, const cache::PurgePattern& purge) {
  co_return store.remove_if(
      [&purge](const cache::Entry& entry) { return purge.covers(entry.url(), entry.giver().tag); });
}

// Reads on a thread that may wait for the disk.
Task<disk::Result<cache::ReadBack>> read_waiting(CacheAccess& access,
                                                 const policy::Request& request, digest::Key key,
                                                 cache::Bodies bodies) {
  const auto asked = std::make_shared<const http::OwnedFields>(request.head.fields);
  std::function<disk::Result<cache::ReadBack>()> read = [&cache = access.cache, key, asked,
                                                         name = request.stored_as(), bodies] {
    const auto& fields = asked->fields();
    return cache.disk->read({key, name, fields}, cache.store, disk::Wait::yes, bodies);
  };
  co_return co_await read_in_time<cache::ReadBack>(access, std::move(read));
}

disk::Result<cache::ReadBack> read_at_once(Cache& cache, const policy::Request& request,
                                           const digest::Key& key, cache::Bodies bodies) {
  return cache.disk->read({key, request.stored_as(), request.head.fields}, cache.store,
                          disk::Wait::no, bodies);
}

bool would_block(const disk::Result<cache::ReadBack>& read) {
  return !read && read.error() == disk::Error::would_block;
}

// Whether what was read may answer a request that was made at that time.
bool is_good(Cache& cache, const policy::Request& request, const digest::Key& key,
             const cache::ReadBack& read, AskedAt asked) {
  const auto& name = request.stored_as();
  return cache.disk->still_found(read, name) &&
         !cache.fills.outdated(key, name, asked, read.entry->giver().tag);
}

void warn_of(disk::Error error, const std::string& name) {
  if (error == disk::Error::corrupt) {
    spdlog::warn(
        "what the disk held of {} is damaged and was dropped: if this recurs, test the disk", name);
  } else if (error == disk::Error::io) {
    spdlog::warn("what the disk held of {} could not be read and is tried no more: test the disk",
                 name);
  }
}

// All responses that memory stores under the key.
std::vector<cache::Store::Response> all_in_memory(const Cache& cache, const digest::Key& key) {
  std::vector<cache::Store::Response> all;
  cache.store.look(key, all);
  return all;
}

// Returns the response, with its OnDisk from the store if it has none. Without an OnDisk, a newer
// head is written with its body, although the disk may have the body already.
cache::Kept with_on_disk(const Cache& cache, const digest::Key& key, cache::Kept response) {
  if (!cache.disk || !response.entry || response.on_disk) return response;
  for (auto& one : all_in_memory(cache, key)) {
    if (one.entry == response.entry) response.on_disk = std::move(one.on_disk);
  }
  return response;
}

// Call this once memory stores the response. If the disk admits on the second request, an earlier
// request is remembered here. A later request finds the entry in memory and offers it
// (offer_to_disk()).
bool is_to_be_written(Cache& cache, const digest::Key& key, const cache::Kept& response) {
  if (!cache.disk || !cache.disk->admission().is_on_second()) return cache.disk != nullptr;
  if (response.entry->object() || cache.disk->admits(key)) return !response.on_disk->offer();
  if (!response.entry->range()) cache.disk->admission().count_refused();
  return false;
}

}  // namespace

cache::Storability why_not_kept(Cache& cache, const digest::Key& key, const cache::Entry& entry,
                                AskedAt asked) {
  const bool is_outdated = cache.fills.outdated(key, entry.url(), asked, entry.giver().tag);
  return is_outdated ? cache::Storability::outdated : cache::Storability::no_room;
}

// An invalidation is noted first, and clears memory and disk afterwards. keep() looks for that note
// again after it has stored the entry, so that an entry stored in between is dropped by one of the
// two.
bool keep(Cache& cache, const digest::Key& key, const cache::Ref<const cache::Entry>& entry,
          AskedAt asked, const cache::Kept& superseded) {
  const cache::Kept response{entry, cache.disk ? std::make_shared<cache::OnDisk>(asked) : nullptr};
  const auto old = with_on_disk(cache, key, superseded);
  const auto outdated = [&] {
    return cache.fills.outdated(key, entry->url(), asked, entry->giver().tag);
  };
  const auto store = [&] {
    const auto now = cache.clock.now();
    if (outdated()) return false;
    return cache.store.put(key, response, now, superseded.entry.get()) == cache::Stored::yes;
  };
  const bool for_disk = cache.disk && !entry->giver().guest;
  if (for_disk && !cache.disk->admission().is_on_second()) {
    return cache.disk->put(key, response, old, store);
  }
  if (!store()) return false;
  const auto good = [&] { return !outdated(); };
  const bool written = for_disk && is_to_be_written(cache, key, response);
  if (written ? cache.disk->put(key, response, old, good) : good()) return true;
  cache.store.invalidate(key, entry->url());
  return false;
}

bool is_for_disk(const Cache& cache, const digest::Key& url_key) {
  return cache.disk && cache.disk->admits(url_key);
}

std::uint64_t most_in_one_piece(const Cache& cache, const digest::Key& url_key) {
  const auto in_memory = cache.store.max_object();
  if (!cache.disk || cache.disk->admits(url_key)) return in_memory;
  return std::min<std::uint64_t>(in_memory, cache.disk->most_whole());
}

void record_asked(const Cache& cache, const policy::Request& request, const digest::Key& key) {
  const auto& facts = request.facts;
  if (facts.method == cache::RequestFacts::Method::other) return;
  if (cache.disk) cache.disk->admission().record_asked(key);
  const bool has_neighbours = !request.policy().directory->peers().empty();
  if (cache.placement && has_neighbours && !request.asks_as_sibling())
    cache.placement->record_asked(key);
}

// An entry in memory was requested before, so this request is at least the second one. The time at
// which the entry was asked for reveals a purge meanwhile; the entries in memory reveal a
// replacement.
void offer_to_disk(Cache& cache, const digest::Key& key, const cache::Found& found) {
  if (!cache.disk || !cache.disk->admission().is_on_second()) return;
  const cache::Kept stored{found.entry, found.on_disk};
  const auto& entry = stored.entry;
  if (!entry || entry->range() || entry->object() || entry->giver().guest) return;
  if (!stored.on_disk || stored.on_disk->offer()) return;
  const auto good = [&] {
    const auto all = all_in_memory(cache, key);
    const bool there =
        std::ranges::any_of(all, [&entry](const auto& one) { return one.entry == entry; });
    const auto asked = stored.on_disk->asked();
    return there && !cache.fills.outdated(key, entry->url(), asked, entry->giver().tag);
  };
  if (!cache.disk->put(key, stored, {}, good)) stored.on_disk->withdraw();
}

// Purges the disk first: a reader of the disk then either finds the entry purged, or has stored it
// in memory before memory is cleared.
void drop(Cache& cache, const digest::Key& key, std::string_view name) {
  if (cache.disk) cache.disk->purge(key, {});
  cache.store.invalidate(key, name);
  // Meanwhile a request may have found the entry in memory and queued it for the disk.
  if (cache.disk && cache.disk->admission().is_on_second()) cache.disk->purge(key, {});
}

Task<Forgotten> forget(CacheAccess& access, const digest::Key& key, const std::string& name) {
  auto& cache = access.cache;
  cache.fills.invalidate(key, cache.clock.steady());
  if (!cache.disk) co_return Forgotten{cache.store.invalidate(key, name)};
  const bool below = cache.disk->may_have(key);
  const auto written = std::make_shared<Answer>(access.executor);
  // The disk first, as in drop(). What the disk does not hold may be in a neighbour, which the next
  // start is not to ask for it either.
  const auto purge = cache.disk->purge(key, told(written), cache::DiskTier::Also::what_is_not_held);
  Forgotten forgotten{cache.store.invalidate(key, name)};
  if (forgotten.dropped == 0 && below) forgotten.dropped = 1;
  const auto record = purge == cache::DiskTier::Purge::queued ? written : nullptr;
  forgotten.owed =
      co_await is_owed(access, record, machine::succession::MessageKind::forget_url, name);
  co_return forgotten;
}

Task<std::optional<Forgotten>> forget(CacheAccess& access, const cache::PurgePattern& purge) {
  auto& cache = access.cache;
  cache.fills.invalidate(purge, cache.clock.steady());
  const auto written = std::make_shared<Answer>(access.executor);
  using Room = disk::PurgeRules::Room;
  const auto room = purge.is_by_giver() ? Room::reserved : Room::shared;
  const bool below = !cache.disk || cache.disk->purge_all(purge.text(), told(written), room);
  auto scan = drop_purged(cache.store, purge);
  Forgotten forgotten;
  forgotten.dropped = co_await net::run_on(cache.aside, std::move(scan));
  if (!below) co_return std::nullopt;
  const auto record = cache.disk ? written : nullptr;
  const auto text = purge.text();
  forgotten.owed =
      co_await is_owed(access, record, machine::succession::MessageKind::forget_many, text);
  co_return forgotten;
}

namespace {

// Whether memory stores what was read without waiting. A small response that is asked for once in a
// while costs less if it displaces nothing: it is read from the page cache each time, into memory
// that is still in the processor's caches. An object's head is always stored, because each of its
// blocks is looked up by the head's version.
bool is_to_be_adopted(Cache& cache, const digest::Key& key, const cache::Entry& entry) {
  return entry.is_object() || cache.store.is_worth_room(key, entry);
}

// The result for an entry that was read whole. Stores it in memory if that is worth the room, and
// always if the read may have waited for the disk.
FoundBelow keep_read(Cache& cache, const policy::Request& request, Sought sought,
                     const cache::ReadBack& read, Waited waited) {
  const auto& key = sought.key;
  cache::Kept kept{read.entry, read.on_disk};
  const bool adopts = waited == Waited::yes || is_to_be_adopted(cache, key, *read.entry);
  if (adopts) kept = cache.store.adopt(key, std::move(kept), cache.clock.now());
  const bool good = is_good(cache, request, key, read, sought.asked);
  const bool is_new = kept.entry == read.entry;
  if (adopts && !good && is_new) cache.store.drop(key, *kept.entry);
  if (good || !is_new) {
    sought.found.entry = kept.entry;
    sought.found.on_disk = kept.on_disk;
  }
  return {std::move(sought.found), good && is_new};
}

}  // namespace

bool may_be_on_disk(const Cache& cache, const policy::Request& request, const digest::Key& key,
                    const cache::Found& found) {
  const bool asks_for_it = request.facts.method != cache::RequestFacts::Method::other;
  return !found.entry && cache.disk && asks_for_it && cache.disk->may_have(key) &&
         !cache.disk->hangs();
}

Task<FoundBelow> read_back(CacheAccess& access, const policy::Request& request, Sought sought) {
  auto& cache = access.cache;
  const auto& key = sought.key;
  std::optional<cache::Readings::ReadRight> turn;  // until memory has the entry
  auto read = read_at_once(cache, request, key, sought.bodies);
  bool waited = would_block(read);
  if (waited) {
    const auto over = std::make_shared<net::Wakeup>(access.executor);
    turn.emplace(cache.disk->readings().begin(key, [over] { over->notify(); }));
    if (!*turn) {
      co_await over->wait();
      auto again = cache.store.find(key, request.stored_as(), request.head.fields);
      if (again.entry) co_return FoundBelow{std::move(again)};
    }
    read = co_await read_waiting(access, request, key, sought.bodies);
  }
  if (read && read->in_file) {
    auto body = FileBody::of(cache, std::move(*read->in_file));
    bool may = body != nullptr;
    if (may) may = co_await may_be_sent(access, body);
    if (may && is_good(cache, request, key, *read, sought.asked)) {
      sought.found.entry = std::move(read->entry);
      co_return FoundBelow{std::move(sought.found), true, std::move(body)};
    }
    read = read_at_once(cache, request, key, cache::Bodies::in_memory);
    waited = would_block(read);
    if (waited) read = co_await read_waiting(access, request, key, cache::Bodies::in_memory);
  }
  if (!read) {
    warn_of(read.error(), request.stored_as());
    co_return FoundBelow{std::move(sought.found)};
  }
  sought.found.varies = sought.found.varies || read->varies;
  if (!read->entry) co_return FoundBelow{std::move(sought.found)};
  co_return keep_read(cache, request, std::move(sought), *read, waited ? Waited::yes : Waited::no);
}

}  // namespace proxy::tiers
