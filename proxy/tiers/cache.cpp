#include "proxy/tiers/cache.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "proxy/cache/purge_pattern.hpp"
#include "proxy/http/fields.hpp"
#include "proxy/policy/policy.hpp"
#include "proxy/tiers/read_in_time.hpp"

namespace proxy::tiers {

using net::Soon;
using net::Task;
namespace disk = cache::disk;

namespace {

constexpr std::chrono::seconds kLongestPurge{5};

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
Task<bool> is_owed(Reader& reader, Awaited written, machine::succession::MessageKind kind,
                   std::string_view text) {
  auto& tiers = reader.tiers;
  bool owed = false;
  if (written) owed = !tiers.disk->state().working;
  if (written && !owed) {
    const bool is_written = co_await is_yes(written);
    owed = !is_written;
  }
  if (!tiers.successor.exists()) co_return owed;
  const auto forgot = std::make_shared<Answer>(reader.executor);
  const auto give = [forgot](bool is_yes) { forgot->give(is_yes); };
  if (!tiers.successor.tell(kind, text, give)) co_return true;
  const bool has_forgotten = co_await is_yes(forgot);
  co_return !has_forgotten;
}

Task<std::size_t> drop_purged(cache::Store& store, const cache::PurgePattern& purge) {
  co_return store.remove_if(
      [&purge](const cache::Entry& entry) { return purge.covers(entry.url(), entry.giver().tag); });
}

// Reads on a thread that may wait for the disk.
Task<disk::Result<cache::ReadBack>> read_waiting(Reader& reader, const policy::Request& request,
                                                 digest::Key key, cache::Bodies bodies) {
  const auto asked = std::make_shared<const http::OwnedFields>(request.head.fields);
  std::function<disk::Result<cache::ReadBack>()> read = [&tiers = reader.tiers, key, asked,
                                                         name = request.stored_as(), bodies] {
    const auto& fields = asked->fields();
    return tiers.disk->read({key, name, fields}, tiers.store, disk::Wait::yes, bodies);
  };
  co_return co_await read_in_time<cache::ReadBack>(reader, std::move(read));
}

disk::Result<cache::ReadBack> read_at_once(Tiers& tiers, const policy::Request& request,
                                           const digest::Key& key, cache::Bodies bodies) {
  return tiers.disk->read({key, request.stored_as(), request.head.fields}, tiers.store,
                          disk::Wait::no, bodies);
}

bool would_block(const disk::Result<cache::ReadBack>& read) {
  return !read && read.error() == disk::Error::would_block;
}

// Whether what was read may answer a request that was made at `sought.asked`.
bool is_good(Tiers& tiers, const policy::Request& request, const Sought& sought,
             const cache::ReadBack& read) {
  const auto& name = request.stored_as();
  return tiers.disk->still_found(read, name) &&
         !tiers.fills.outdated(sought.key, name, sought.asked, read.entry->giver().tag);
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
std::vector<cache::Store::Response> all_in_memory(const Tiers& tiers, const digest::Key& key) {
  std::vector<cache::Store::Response> all;
  tiers.store.look(key, all);
  return all;
}

// Returns the response, with its OnDisk from the store if it has none. Without an OnDisk, a newer
// head is written with its body, although the disk may have the body already.
cache::Kept with_on_disk(const Tiers& tiers, const digest::Key& key, cache::Kept response) {
  if (!tiers.disk || !response.entry || response.on_disk) return response;
  for (auto& one : all_in_memory(tiers, key)) {
    if (one.entry == response.entry) response.on_disk = std::move(one.on_disk);
  }
  return response;
}

// Call this once memory stores the response. If the disk admits on the second request, an earlier
// request is remembered here. A later request finds the entry in memory and offers it
// (offer_to_disk()).
bool is_to_be_written(Tiers& tiers, const digest::Key& key, const cache::Kept& response) {
  if (!tiers.disk || !tiers.disk->admission().is_on_second()) return tiers.disk != nullptr;
  if (response.entry->object() || tiers.disk->admits(key)) return !response.on_disk->offer();
  if (!response.entry->range()) tiers.disk->admission().count_refused();
  return false;
}

}  // namespace

// An invalidation is noted first, and clears memory and disk afterwards. store() looks for that
// note again after it has stored the entry, so that an entry stored in between is dropped by one of
// the two.
bool Cache::store(const digest::Key& key, const cache::Ref<const cache::Entry>& entry,
                  AskedAt asked, const cache::Kept& superseded) {
  const cache::Kept response{entry, tiers_.disk ? std::make_shared<cache::OnDisk>(asked) : nullptr};
  const auto old = with_on_disk(tiers_, key, superseded);
  const auto outdated = [&] { return was_purged(key, *entry, asked); };
  const auto store = [&] {
    const auto now = clock.now();
    if (outdated()) return false;
    return tiers_.store.put(key, response, now, superseded.entry.get()) == cache::Stored::yes;
  };
  const bool for_disk = tiers_.disk && !entry->giver().guest;
  if (for_disk && !tiers_.disk->admission().is_on_second()) {
    return tiers_.disk->put(key, response, old, store);
  }
  if (!store()) return false;
  const auto good = [&] { return !outdated(); };
  const bool written = for_disk && is_to_be_written(tiers_, key, response);
  if (written ? tiers_.disk->put(key, response, old, good) : good()) return true;
  tiers_.store.invalidate(key, entry->url());
  return false;
}

std::uint64_t Cache::most_in_one_piece(const digest::Key& url_key) const {
  const auto in_memory = tiers_.store.max_object();
  if (!tiers_.disk || tiers_.disk->admits(url_key)) return in_memory;
  return std::min<std::uint64_t>(in_memory, tiers_.disk->most_whole());
}

namespace {

// Counts a request, for what is stored only if its URL is requested again.
void record_asked(const Tiers& tiers, const policy::Request& request, const digest::Key& key) {
  const auto& facts = request.facts;
  if (facts.method == cache::RequestFacts::Method::other) return;
  if (tiers.disk) tiers.disk->admission().record_asked(key);
  const bool has_neighbours = !request.policy().directory->peers().empty();
  if (tiers.placement && has_neighbours && !policy::is_of_neighbour(request))
    tiers.placement->record_asked(key);
}

// If the disk admits only responses requested twice, writes what memory has, unless it was written
// before. An entry in memory was requested before, so this request is at least the second one. The
// time at which the entry was asked for reveals a purge meanwhile; the entries in memory reveal a
// replacement.
void offer_to_disk(Tiers& tiers, const digest::Key& key, const cache::Found& found) {
  if (!tiers.disk || !tiers.disk->admission().is_on_second()) return;
  const cache::Kept stored{found.entry, found.on_disk};
  const auto& entry = stored.entry;
  if (!entry || entry->range() || entry->object() || entry->giver().guest) return;
  if (!stored.on_disk || stored.on_disk->offer()) return;
  const auto good = [&] {
    const auto all = all_in_memory(tiers, key);
    const bool there =
        std::ranges::any_of(all, [&entry](const auto& one) { return one.entry == entry; });
    const auto asked = stored.on_disk->asked();
    return there && !tiers.fills.outdated(key, entry->url(), asked, entry->giver().tag);
  };
  if (!tiers.disk->put(key, stored, {}, good)) stored.on_disk->withdraw();
}

}  // namespace

// Purges the disk first: a reader of the disk then either finds the entry purged, or has stored it
// in memory before memory is cleared.
void Cache::drop(const digest::Key& key, std::string_view name) {
  if (tiers_.disk) tiers_.disk->purge(key, {});
  tiers_.store.invalidate(key, name);
  // Meanwhile a request may have found the entry in memory and queued it for the disk.
  if (tiers_.disk && tiers_.disk->admission().is_on_second()) tiers_.disk->purge(key, {});
}

Task<Forgotten> CacheAccess::forget(const digest::Key& key, const std::string& name) {
  auto& tiers = reader_.tiers;
  tiers.fills.invalidate(key, tiers.clock.steady());
  if (!tiers.disk) co_return Forgotten{tiers.store.invalidate(key, name)};
  const bool below = tiers.disk->may_have(key);
  const auto written = std::make_shared<Answer>(reader_.executor);
  // The disk first, as in drop(). What the disk does not hold may be in a neighbour, which the next
  // start is not to ask for it either.
  const auto purge = tiers.disk->purge(key, told(written), cache::DiskTier::Also::what_is_not_held);
  Forgotten forgotten{tiers.store.invalidate(key, name)};
  if (forgotten.dropped == 0 && below) forgotten.dropped = 1;
  const auto record = purge == cache::DiskTier::Purge::queued ? written : nullptr;
  forgotten.owed =
      co_await is_owed(reader_, record, machine::succession::MessageKind::forget_url, name);
  co_return forgotten;
}

Task<std::optional<Forgotten>> CacheAccess::forget(const cache::PurgePattern& purge) {
  auto& tiers = reader_.tiers;
  tiers.fills.invalidate(purge, tiers.clock.steady());
  const auto written = std::make_shared<Answer>(reader_.executor);
  using Room = disk::PurgeRules::Room;
  const auto room = purge.is_by_giver() ? Room::reserved : Room::shared;
  const bool below = !tiers.disk || tiers.disk->purge_all(purge.text(), told(written), room);
  auto scan = drop_purged(tiers.store, purge);
  Forgotten forgotten;
  forgotten.dropped = co_await net::run_on(tiers.aside, std::move(scan));
  if (!below) co_return std::nullopt;
  const auto record = tiers.disk ? written : nullptr;
  const auto text = purge.text();
  forgotten.owed =
      co_await is_owed(reader_, record, machine::succession::MessageKind::forget_many, text);
  co_return forgotten;
}

namespace {

// What was read whole, and whether the read may have waited for the disk.
struct Read {
  const cache::ReadBack& back;
  bool waited;
};

// The result for an entry that was read whole. Stores it in memory if the read may have waited, or
// if that is worth the room: a small response that is asked for once in a while costs less if it
// displaces nothing. It is then read from the page cache each time, into memory that is still in
// the processor's caches. An object's head is always stored, because each of its blocks is looked
// up by the head's version.
void keep_read(Tiers& tiers, const policy::Request& request, const Sought& sought, const Read& read,
               Stored& into) {
  const auto& key = sought.key;
  const auto& entry = read.back.entry;
  cache::Kept kept{entry, read.back.on_disk};
  const bool adopts = read.waited || entry->is_object() || tiers.store.is_worth_room(key, *entry);
  if (adopts) kept = tiers.store.adopt(key, std::move(kept), tiers.clock.now());
  const bool good = is_good(tiers, request, sought, read.back);
  const bool is_new = kept.entry == entry;
  if (adopts && !good && is_new) tiers.store.drop(key, *kept.entry);
  if (good && is_new) into.from_disk = true;
  if (!good && is_new) return;
  into.found.entry = std::move(kept.entry);
  into.found.on_disk = std::move(kept.on_disk);
}

bool may_be_on_disk(const Tiers& tiers, const policy::Request& request, const digest::Key& key) {
  const bool asks_for_it = request.facts.method != cache::RequestFacts::Method::other;
  return tiers.disk && asks_for_it && tiers.disk->may_have(key) && !tiers.disk->hangs();
}

// Reads the entry from disk. `into`: what memory has, no entry.
Task<void> read_back(Reader& reader, const policy::Request& request, Sought sought, Stored& into) {
  auto& tiers = reader.tiers;
  const auto& key = sought.key;
  std::optional<cache::Readings::ReadRight> turn;  // until memory has the entry
  auto read = read_at_once(tiers, request, key, sought.bodies);
  bool waited = would_block(read);
  if (waited) {
    const auto over = std::make_shared<net::Wakeup>(reader.executor);
    turn.emplace(tiers.disk->readings().begin(key, [over] { over->notify(); }));
    if (!*turn) {
      co_await over->wait();
      auto again = tiers.store.find(key, request.stored_as(), request.head.fields);
      if (again.entry) {
        into.found = std::move(again);
        co_return;
      }
    }
    read = co_await read_waiting(reader, request, key, sought.bodies);
  }
  if (read && read->in_file) {
    auto body = FileBody::of(tiers, std::move(*read->in_file));
    bool may = body != nullptr;
    if (may) may = co_await may_be_sent(reader, body);
    if (may && is_good(tiers, request, sought, *read)) {
      into.found.entry = std::move(read->entry);
      into.from_disk = true;
      into.body = std::move(body);
      co_return;
    }
    read = read_at_once(tiers, request, key, cache::Bodies::in_memory);
    waited = would_block(read);
    if (waited) read = co_await read_waiting(reader, request, key, cache::Bodies::in_memory);
  }
  if (!read) co_return warn_of(read.error(), request.stored_as());
  into.found.varies = into.found.varies || read->varies;
  if (read->entry) keep_read(tiers, request, sought, {*read, waited}, into);
}

}  // namespace

Soon<void> CacheAccess::find(const policy::Request& request, const Sought& sought, Stored& into) {
  auto& tiers = reader_.tiers;
  record_asked(tiers, request, sought.key);
  into.found = tiers.store.find(sought.key, request.stored_as(), request.head.fields);
  offer_to_disk(tiers, sought.key, into.found);
  if (into.found.entry || !may_be_on_disk(tiers, request, sought.key)) return {};
  return read_back(reader_, request, sought, into);
}

Task<void> CacheAccess::find_whole(const policy::Request& request, Sought sought, Stored& into) {
  sought.bodies = cache::Bodies::in_memory;
  into.found.entry = nullptr;
  into.body = nullptr;
  return read_back(reader_, request, sought, into);
}

Task<CacheAccess::Peeked> CacheAccess::peek(const policy::Request& request) {
  auto& tiers = reader_.tiers;
  // A disk that hangs is given up, and the look at it may outlive the request.
  const auto fields = std::make_shared<const http::OwnedFields>(request.head.fields);
  const auto look = [&tiers, name = request.stored_as(), fields](cache::DiskTier* tier) {
    return inspect::peek({tiers.store, tier}, tiers.budget, name, fields->fields(),
                         tiers.clock.now());
  };
  std::optional<disk::Error> fault;
  if (tiers.disk) {
    std::function<disk::Result<inspect::Peeked>()> read = [look, &tiers] {
      return look(tiers.disk);
    };
    auto peeked = co_await read_in_time<inspect::Peeked>(reader_, std::move(read));
    if (peeked) co_return Peeked{std::move(*peeked), {}};
    fault = peeked.error();
  }
  // A disk that hangs is a fact to show, not a reason to show nothing.
  co_return Peeked{look(nullptr), fault};
}

}  // namespace proxy::tiers
