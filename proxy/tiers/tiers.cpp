#include "proxy/tiers/tiers.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "proxy/cache/disk_tier/disk_tier.hpp"
#include "proxy/http/owned_fields.hpp"
#include "proxy/net/wakeup.hpp"
#include "proxy/tiers/disk_read.hpp"

namespace proxy {

using net::Task;
namespace disk = cache::disk;

namespace {

constexpr std::chrono::seconds kLongestPurge{5};

// The record of a purge, from the queue until the disk has it.
class Written {
 public:
  explicit Written(Worker& worker) : state_(std::make_shared<State>(worker.io.get_executor())) {}

  disk::Done told() {
    return [state = state_](disk::Result<void> written) {
      state->failed = !written;
      state->done.notify();
    };
  }
  // Waits for the record. Returns whether it could not be written in time. A disk that hangs delays
  // the answer by at most kLongestPurge, or not at all if the hang is known already.
  Task<bool> failed(const cache::DiskTier& disk) {
    if (!disk.state().working) co_return true;
    const auto woken = co_await state_->done.wait(kLongestPurge);
    co_return woken == Wakeup::Woken::timed_out || state_->failed;
  }

 private:
  struct State {
    explicit State(net::Executor executor) : done(executor) {}
    Wakeup done;
    std::atomic<bool> failed = false;
  };
  std::shared_ptr<State> state_;
};

// A successor's answer to an order.
struct Answer {
  explicit Answer(net::Executor executor) : come(executor) {}
  Wakeup come;
  std::atomic<bool> forgotten = false;
};

// Once the disk is our successor's, the successor has to forget, too. Returns whether it has.
Task<bool> successor_forgets(Worker& worker, succession::Kind kind, std::string_view text) {
  const auto answer = std::make_shared<Answer>(worker.io.get_executor());
  succession::Successor::Answered answered = [answer](bool forgotten) {
    answer->forgotten = forgotten;
    answer->come.notify();
  };
  if (!worker.process.successor.tell(kind, text, std::move(answered))) co_return false;
  co_await answer->come.wait(kLongestPurge);
  co_return answer->forgotten;
}

Task<std::size_t> drop_purged(cache::Store& store, const PurgePattern& purge) {
  co_return store.remove_if(
      [&purge](const cache::Entry& entry) { return purge.covers(entry.url(), entry.giver().tag); });
}

// Reads on a thread that may wait for the disk.
Task<disk::Result<cache::ReadBack>> read_waiting(Worker& worker, const Request& request,
                                                 digest::Key key, cache::Bodies bodies) {
  const auto asked = std::make_shared<const http::OwnedFields>(request.head.fields);
  std::function<disk::Result<cache::ReadBack>()> read = [&process = worker.process, key, asked,
                                                         name = request.stored_as(), bodies] {
    const auto& fields = asked->fields();
    return process.disk->read(key, name, fields, process.store, disk::Wait::yes, bodies);
  };
  co_return co_await read_in_time<cache::ReadBack>(worker, std::move(read));
}

disk::Result<cache::ReadBack> read_at_once(Process& process, const Request& request,
                                           const digest::Key& key, cache::Bodies bodies) {
  return process.disk->read(key, request.stored_as(), request.head.fields, process.store,
                            disk::Wait::no, bodies);
}

bool would_block(const disk::Result<cache::ReadBack>& read) {
  return !read && read.error() == disk::Error::would_block;
}

// Whether what was read may answer a request that was made at that time.
bool is_good(Process& process, const Request& request, const digest::Key& key,
             const cache::ReadBack& read, AskedAt asked) {
  const auto& name = request.stored_as();
  return process.disk->still_found(read, name) &&
         !process.fills.outdated(key, name, asked, read.entry->giver().tag);
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
std::vector<cache::Store::Response> all_in_memory(const Process& process, const digest::Key& key) {
  std::vector<cache::Store::Response> all;
  process.store.look(key, all);
  return all;
}

// Returns the response, with its OnDisk from the store if it has none. Without an OnDisk, a newer
// head is written with its body, although the disk may have the body already.
cache::Kept with_on_disk(const Process& process, const digest::Key& key, cache::Kept response) {
  if (!process.disk || !response.entry || response.on_disk) return response;
  for (auto& one : all_in_memory(process, key)) {
    if (one.entry == response.entry) response.on_disk = std::move(one.on_disk);
  }
  return response;
}

// Call this once memory stores the response. If the disk admits on the second request, an earlier
// request is remembered here. A later request finds the entry in memory and offers it
// (offer_to_disk()).
bool is_to_be_written(Process& process, const digest::Key& key, const cache::Kept& response) {
  if (!process.disk || !process.disk->admission().is_on_second()) return process.disk != nullptr;
  if (response.entry->object() || process.disk->admits(key)) return !response.on_disk->offer();
  if (!response.entry->range()) process.disk->admission().count_refused();
  return false;
}

}  // namespace

cache::Storability why_not_kept(Process& process, const digest::Key& key, const cache::Entry& entry,
                                AskedAt asked) {
  const bool is_outdated = process.fills.outdated(key, entry.url(), asked, entry.giver().tag);
  return is_outdated ? cache::Storability::outdated : cache::Storability::no_room;
}

// An invalidation is noted first, and clears memory and disk afterwards. keep() looks for that note
// again after it has stored the entry, so that an entry stored in between is dropped by one of the
// two.
bool keep(Process& process, const digest::Key& key, const cache::Ref<const cache::Entry>& entry,
          AskedAt asked, const cache::Kept& superseded) {
  const cache::Kept response{entry,
                             process.disk ? std::make_shared<cache::OnDisk>(asked) : nullptr};
  const auto old = with_on_disk(process, key, superseded);
  const auto outdated = [&] {
    return process.fills.outdated(key, entry->url(), asked, entry->giver().tag);
  };
  const auto store = [&] {
    const auto now = process.clock.now();
    if (outdated()) return false;
    return process.store.put(key, response, now, superseded.entry.get()) == cache::Stored::yes;
  };
  const bool for_disk = process.disk && !entry->giver().guest;
  if (for_disk && !process.disk->admission().is_on_second()) {
    return process.disk->put(key, response, old, store);
  }
  if (!store()) return false;
  const auto good = [&] { return !outdated(); };
  const bool written = for_disk && is_to_be_written(process, key, response);
  if (written ? process.disk->put(key, response, old, good) : good()) return true;
  process.store.invalidate(key, entry->url());
  return false;
}

void note_asked(const Process& process, const Request& request, const digest::Key& key) {
  const auto& facts = request.facts;
  if (facts.method == cache::RequestFacts::Method::other) return;
  if (process.disk) process.disk->admission().note_asked(key);
  const bool is_neighbours = facts.control.only_if_cached;
  const bool has_neighbours = !request.policy().directory->peers().empty();
  if (process.placement && has_neighbours && !is_neighbours) process.placement->note_asked(key);
}

// An entry in memory was requested before, so this request is at least the second one. The time at
// which the entry was asked for reveals a purge meanwhile; the entries in memory reveal a
// replacement.
void offer_to_disk(Process& process, const digest::Key& key, const cache::Found& found) {
  if (!process.disk || !process.disk->admission().is_on_second()) return;
  const cache::Kept stored{found.entry, found.on_disk};
  const auto& entry = stored.entry;
  if (!entry || entry->range() || entry->object() || entry->giver().guest) return;
  if (!stored.on_disk || stored.on_disk->offer()) return;
  const auto good = [&] {
    const auto all = all_in_memory(process, key);
    const bool there = std::any_of(all.begin(), all.end(),
                                   [&entry](const auto& one) { return one.entry == entry; });
    const auto asked = stored.on_disk->asked();
    return there && !process.fills.outdated(key, entry->url(), asked, entry->giver().tag);
  };
  if (!process.disk->put(key, stored, {}, good)) stored.on_disk->offer(false);
}

// Purges the disk first: a reader of the disk then either finds the entry purged, or has stored it
// in memory before memory is cleared.
void drop(Process& process, const digest::Key& key, std::string_view name) {
  if (process.disk) process.disk->purge(key, {});
  process.store.invalidate(key, name);
  // Meanwhile a request may have found the entry in memory and queued it for the disk.
  if (process.disk && process.disk->admission().is_on_second()) process.disk->purge(key, {});
}

Task<Forgotten> forget(Worker& worker, const digest::Key& key, const std::string& name) {
  auto& process = worker.process;
  process.fills.invalidate(key, std::chrono::steady_clock::now());
  if (!process.disk) co_return Forgotten{process.store.invalidate(key, name)};
  const bool below = process.disk->may_have(key);
  Written written(worker);
  // The disk first, as in drop(). What the disk does not hold may be in a neighbour, which the next
  // start is not to ask for it either.
  const auto purge =
      process.disk->purge(key, written.told(), cache::DiskTier::Also::what_is_not_held);
  Forgotten forgotten{process.store.invalidate(key, name)};
  if (forgotten.dropped == 0 && below) forgotten.dropped = 1;
  if (purge == cache::DiskTier::Purge::queued)
    forgotten.owed = co_await written.failed(*process.disk);
  if (process.successor.exists()) {
    const bool forgot = co_await successor_forgets(worker, succession::Kind::forget_url, name);
    forgotten.owed = !forgot;
  }
  co_return forgotten;
}

Task<std::optional<Forgotten>> forget(Worker& worker, const PurgePattern& purge) {
  auto& process = worker.process;
  process.fills.invalidate(purge, std::chrono::steady_clock::now());
  Written written(worker);
  using Room = disk::PurgeRules::Room;
  const auto room = purge.is_by_giver() ? Room::reserved : Room::shared;
  const bool below = !process.disk || process.disk->purge_all(purge.text(), written.told(), room);
  auto scan = drop_purged(process.store, purge);
  Forgotten forgotten;
  forgotten.dropped = co_await net::run_on(process.aside, std::move(scan));
  if (!below) co_return std::nullopt;
  if (process.disk) forgotten.owed = co_await written.failed(*process.disk);
  if (process.successor.exists()) {
    const auto text = purge.text();
    const bool forgot = co_await successor_forgets(worker, succession::Kind::forget_many, text);
    forgotten.owed = !forgot;
  }
  co_return forgotten;
}

namespace {

// Whether memory stores what was read without waiting. A small response that is asked for once in a
// while costs less if it displaces nothing: it is read from the page cache each time, into memory
// that is still in the processor's caches. An object's head is always stored, because each of its
// blocks is looked up by the head's version.
bool is_to_be_adopted(Process& process, const digest::Key& key, const cache::Entry& entry) {
  return entry.is_object() || process.store.is_worth_room(key, entry);
}

// The result for an entry that was read whole. Stores it in memory if that is worth the room.
// `waited`: the read may have waited for the disk.
FoundBelow keep_read(Process& process, const Request& request, const digest::Key& key,
                     cache::ReadBack read, cache::Found found, AskedAt asked, bool waited) {
  cache::Kept kept{read.entry, read.on_disk};
  const bool adopts = waited || is_to_be_adopted(process, key, *read.entry);
  if (adopts) kept = process.store.adopt(key, std::move(kept), process.clock.now());
  const bool good = is_good(process, request, key, read, asked);
  const bool is_new = kept.entry == read.entry;
  if (adopts && !good && is_new) process.store.drop(key, *kept.entry);
  if (good || !is_new) {
    found.entry = kept.entry;
    found.on_disk = kept.on_disk;
  }
  return {std::move(found), good && is_new};
}

}  // namespace

bool may_be_below(const Process& process, const Request& request, const digest::Key& key,
                  const cache::Found& found) {
  const bool asks_for_it = request.facts.method != cache::RequestFacts::Method::other;
  return !found.entry && process.disk && asks_for_it && process.disk->may_have(key) &&
         !process.disk->hangs();
}

Task<FoundBelow> read_back(Worker& worker, const Request& request, digest::Key key,
                           cache::Found found, AskedAt asked, cache::Bodies bodies) {
  auto& process = worker.process;
  std::optional<cache::Readings::ReadRight> turn;  // until memory has the entry
  auto read = read_at_once(process, request, key, bodies);
  bool waited = would_block(read);
  if (waited) {
    const auto over = std::make_shared<Wakeup>(worker.io.get_executor());
    turn.emplace(process.disk->readings().begin(key, [over] { over->notify(); }));
    if (!*turn) {
      co_await over->wait();
      auto again = process.store.find(key, request.stored_as(), request.head.fields);
      if (again.entry) co_return FoundBelow{std::move(again)};
    }
    read = co_await read_waiting(worker, request, key, bodies);
  }
  if (read && read->in_file) {
    auto body = FileBody::of(process, std::move(*read->in_file));
    bool may = body != nullptr;
    if (may) may = co_await may_be_sent(worker, body);
    if (may && is_good(process, request, key, *read, asked)) {
      found.entry = std::move(read->entry);
      co_return FoundBelow{std::move(found), true, std::move(body)};
    }
    read = read_at_once(process, request, key, cache::Bodies::in_memory);
    waited = would_block(read);
    if (waited) {
      read = co_await read_waiting(worker, request, key, cache::Bodies::in_memory);
    }
  }
  if (!read) {
    warn_of(read.error(), request.stored_as());
    co_return FoundBelow{std::move(found)};
  }
  found.varies = found.varies || read->varies;
  if (!read->entry) co_return FoundBelow{std::move(found)};
  co_return keep_read(process, request, key, std::move(*read), std::move(found), asked, waited);
}

}  // namespace proxy
