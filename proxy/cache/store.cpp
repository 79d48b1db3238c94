#include "proxy/cache/store.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "proxy/cache/shard.hpp"

namespace proxy::cache {
namespace {

// The paper's 10 %, over all shards: in a small cache, one shard's tenth may be less than one
// object.
std::uint64_t small_target(const Budget& budget) {
  return budget.limit() / 10;
}

// In seconds since 1970, the unit of the disk.
std::uint32_t outlasted(Time now) {
  const auto ahead = std::chrono::ceil<std::chrono::seconds>(now + kClaimAhead);
  return static_cast<std::uint32_t>(ahead.time_since_epoch().count());
}

// The number of responses. Blocks of objects have no head of their own and do not count.
std::size_t length(const Shard::Chain& chain) {
  std::size_t responses = 0;
  for (const Node* node = chain.get(); node; node = node->next.get()) {
    responses += node->entry->head.empty() ? 0 : 1;
  }
  return responses;
}

}  // namespace

Store::Store(Budget& budget, const StoreLimits& limits, disk::Index* below)
    : budget_(budget), limits_(limits), below_(below) {
  for (std::size_t i = 0; i < kShards; ++i) {
    shards_.push_back(
        std::make_unique<Shard>(budget, (budget.limit() - small_target(budget)) / kShards, limits_,
                                Shard::Totals{entries_, bytes_, small_bytes_}, below));
  }
}

Store::~Store() = default;

Found Store::find(const digest::Key& key, std::string_view url, const http::Fields& request) const {
  return shard_of(key).find(key, url, request);
}

Stored Store::put(const digest::Key& key, std::shared_ptr<const Entry> entry, Time now,
                  const Entry* superseded) {
  if (!entry->object && entry->body.size > limits_.max_object) return Stored::too_large;
  auto node = std::make_unique<Node>(budget_, key, std::move(entry));
  Shard& shard = shard_of(key);
  if (!make_room_at(shard)) return Stored::no_room;
  shard.put(std::move(node), now, superseded);
  return Stored::yes;
}

std::shared_ptr<const Entry> Store::adopt(const digest::Key& key,
                                          std::shared_ptr<const Entry> entry, Time now) {
  auto node = std::make_unique<Node>(budget_, key, entry);
  Shard& shard = shard_of(key);
  if (!make_room_at(shard)) return entry;
  auto held = shard.adopt(node, now);
  return held ? held : entry;
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

std::size_t Store::remove_if(const std::function<bool(std::string_view)>& matches) {
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

void Store::look(const digest::Key& key, std::vector<Held>& out) const {
  shard_of(key).look({&key, 1}, out);
}

void Store::list(std::size_t shard, std::vector<digest::Key>& out) const {
  shards_[shard]->list(out);
}

void Store::look(std::size_t shard, std::span<const digest::Key> keys,
                 std::vector<Held>& out) const {
  shards_[shard]->look(keys, out);
}

bool Store::make_room() {
  using Part = S3Fifo::Part;
  while (budget_.over()) {
    const Part first = part_to_shrink();
    const Part second = first == Part::small ? Part::main : Part::small;
    if (!evict_somewhere(first) && !evict_somewhere(second)) return forget_ghosts();
  }
  return true;
}

// The shard that grows evicts first if it holds more entries than the average. Counts entries and
// not bytes: one large object must not displace the others in its shard.
bool Store::make_room_at(Shard& shard) {
  while (budget_.over() && shard.entries() * kShards > entries()) {
    if (!shard.evict(part_to_shrink())) break;
  }
  return make_room();
}

S3Fifo::Part Store::part_to_shrink() const {
  const bool small = small_bytes_.load(std::memory_order_relaxed) >= small_target(budget_);
  return small ? S3Fifo::Part::small : S3Fifo::Part::main;
}

bool Store::evict_somewhere(S3Fifo::Part part) {
  for (std::size_t tried = 0; tried < kShards; ++tried) {
    Shard& shard = *shards_[turn_.fetch_add(1, std::memory_order_relaxed) % kShards];
    if (shard.evict(part)) return true;
  }
  return false;
}

// Frees the memory of past evictions, as the last resort. Returns whether that was enough.
bool Store::forget_ghosts() {
  for (const auto& shard : shards_) shard->forget_ghosts();
  return !budget_.over();
}

Collected Store::collect(Time now, std::vector<KeyChange>& out) {
  Collected all = Collected::complete;
  for (const auto& shard : shards_) {
    if (shard->collect(now, out) == Collected::overflowed) all = Collected::overflowed;
  }
  return below_ ? collect_below(now, out) : all;
}

Collected Store::collect_below(Time now, std::vector<KeyChange>& out) {
  std::vector<disk::Index::ClaimChange> changes;
  const bool complete = below_->collect_claims(outlasted(now), changes);
  for (const auto& [key, added] : changes) {
    out.push_back({key, added ? KeyChange::What::added : KeyChange::What::removed});
  }
  return complete ? Collected::complete : Collected::overflowed;
}

void Store::list_claimed(Time now, std::vector<digest::Key>& out) {
  if (!below_) {
    for (const auto& shard : shards_) shard->list_claimed(now, out);
    return;
  }
  std::vector<KeyChange> none;
  for (const auto& shard : shards_) shard->collect(now, none);  // expired entries are not claimed
  below_->list_claims(outlasted(now), out);
}

// By the last byte, since the maps inside hash by the first ones.
Shard& Store::shard_of(const digest::Key& key) const {
  return *shards_[key.bytes.back() % kShards];
}

}  // namespace proxy::cache
