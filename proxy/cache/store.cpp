#include "proxy/cache/store.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "proxy/cache/shard.hpp"

namespace proxy::cache {
namespace {

// In seconds since 1970, the unit of the disk.
std::uint32_t outlasted(Time now) {
  const auto ahead = std::chrono::ceil<std::chrono::seconds>(now + kClaimAhead);
  return static_cast<std::uint32_t>(ahead.time_since_epoch().count());
}

// The number of responses, without blocks of objects.
std::size_t length(const Shard::Chain& chain) {
  std::size_t responses = 0;
  for (const Node* node = chain.get(); node; node = node->next.get()) {
    responses += node->is_block() ? 0 : 1;
  }
  return responses;
}

}  // namespace

Store::Store(Budget& budget, const StoreLimits& limits, disk::Index* below,
             threads::Alarm* newly_claimed)
    : budget_(budget), limits_(limits), max_object_(limits.max_object), below_(below) {
  for (std::size_t i = 0; i < kShards; ++i) {
    shards_.push_back(
        std::make_unique<Shard>(budget, ghost_window(), limits_, totals_, below, newly_claimed));
  }
}

std::uint64_t Store::ghost_window() const {
  return (budget_.limit() - Eviction::small_target(budget_)) / kShards;
}

void Store::follow_budget(std::uint64_t max_object) {
  max_object_.store(max_object, std::memory_order_relaxed);
  for (const auto& shard : shards_) shard->set_ghost_window(ghost_window());
  make_room();
}

Store::~Store() = default;

Found Store::find(const digest::Key& key, std::string_view url, const http::Fields& request) const {
  const HashedKey hashed(key);
  return shards_[digest::part_of_hash(hashed.hash, kShards)]->find(hashed, url, request);
}

Found Store::peek(const digest::Key& key, std::string_view url, const http::Fields& request) const {
  return shard_of(key).peek(HashedKey(key), url, request);
}

Departed Store::departed(const digest::Key& key, std::string_view url) const {
  return shard_of(key).departed(HashedKey(key), url);
}

Stored Store::put(const digest::Key& key, Kept response, Time now, const Entry* superseded) {
  const Entry& entry = *response.entry;
  if (!entry.is_object() && entry.body.size > max_object()) return Stored::too_large;
  auto node = Node::make(key, std::move(response));
  Shard& shard = shard_of(key);
  if (!eviction_.make_room_at(shard)) return Stored::no_room;
  shard.put(std::move(node), now, superseded);
  return Stored::yes;
}

Kept Store::adopt(const digest::Key& key, Kept response, Time now) {
  auto node = Node::make(key, response);
  Shard& shard = shard_of(key);
  if (!eviction_.make_room_at(shard)) return response;
  auto held = shard.adopt(node, now);
  return held.entry ? held : response;
}

bool Store::is_worth_room(const digest::Key& key, const Entry& entry) {
  return !budget_.over() || shard_of(key).returns(key, entry.footprint());
}

bool Store::was_used(const digest::Key& key) const {
  return shard_of(key).was_used(key);
}

bool Store::holds(const digest::Key& key) const {
  return shard_of(key).holds(key);
}

void Store::drop(const digest::Key& key, const Entry& entry) {
  shard_of(key).drop(key, &entry);
}

std::size_t Store::remove(const digest::Key& key) {
  return length(shard_of(key).remove(key, std::nullopt));
}

std::size_t Store::invalidate(const digest::Key& key, std::string_view url) {
  return length(shard_of(key).remove(key, url));
}

std::size_t Store::remove_if(const std::function<bool(const Entry&)>& matches) {
  constexpr std::size_t kAtOnce = 128;
  std::size_t removed = 0;
  std::vector<digest::Key> keys;
  for (const auto& shard : shards_) {
    keys.clear();
    shard->list(keys);
    for (std::span<const digest::Key> rest(keys); !rest.empty();) {
      const auto next = rest.first(std::min(rest.size(), kAtOnce));
      rest = rest.subspan(next.size());
      for (const auto& dropped : shard->remove_if(next, matches)) removed += length(dropped);
    }
  }
  return removed;
}

void Store::look(const digest::Key& key, std::vector<Response>& out) const {
  shard_of(key).look({&key, 1}, out);
}

void Store::list(std::size_t shard, std::vector<digest::Key>& out) const {
  shards_[shard]->list(out);
}

void Store::look(std::size_t shard, std::span<const digest::Key> keys,
                 std::vector<Response>& out) const {
  shards_[shard]->look(keys, out);
}

// The index below knows no departures, so those from it are remembered here.
Collected Store::collect_below(Time now, std::vector<KeyChange>& out) {
  const auto before = out.size();
  const auto collected = below_->collect_claims(outlasted(now), out);
  for (const KeyChange& change : std::span(out).subspan(before)) {
    if (change.what != KeyChange::What::removed) continue;
    shard_of(change.key).remember_departure(change.key, now);
  }
  if (collected == Collected::overflowed) lose_departures(now);
  return collected;
}

void Store::lose_departures(Time now) {
  for (const auto& shard : shards_) shard->lose_departures(now);
}

Collected Store::collect(Time now, std::vector<KeyChange>& out) {
  Collected all = Collected::complete;
  for (const auto& shard : shards_) {
    if (shard->collect(now, out) == Collected::overflowed) all = Collected::overflowed;
  }
  return below_ ? collect_below(now, out) : all;
}

void Store::list_claimed(Time now, std::vector<digest::Claim>& out) {
  if (!below_) {
    for (const auto& shard : shards_) shard->list_claimed(now, out);
    return;
  }
  std::vector<KeyChange> none;
  for (const auto& shard : shards_) shard->collect(now, none);  // expired entries are not claimed
  below_->list_claims(outlasted(now), out);
}

Shard& Store::shard_of(const digest::Key& key) const {
  return *shards_[digest::part_of(key, kShards)];
}

}  // namespace proxy::cache
