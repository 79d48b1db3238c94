#include "proxy/cache/store.hpp"

#include <algorithm>
#include <utility>

#include "proxy/cache/shard.hpp"

namespace proxy::cache {
namespace {

// In seconds since 1970, the unit of the disk.
std::uint32_t outlasted(Time now) {
  const auto ahead = std::chrono::ceil<std::chrono::seconds>(now + kClaimAhead);
  return static_cast<std::uint32_t>(ahead.time_since_epoch().count());
}

std::uint64_t small_target(const Budget& budget) {
  return budget.limit() / 10;
}

// The part that is evicted from first. The paper's 10 % is of all shards: in a small cache, one
// shard's tenth may be less than one object.
S3Fifo::Part part_to_shrink(const Totals& totals, const Budget& budget) {
  const bool small = totals.small_bytes.load(std::memory_order_relaxed) >= small_target(budget);
  return small ? S3Fifo::Part::small : S3Fifo::Part::main;
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
    shards_.push_back(std::make_unique<Shard>(budget, limits_, totals_, below, newly_claimed));
  }
  follow_budget(limits.max_object);
}

Store::~Store() = default;

void Store::follow_budget(std::uint64_t max_object) {
  max_object_.store(max_object, std::memory_order_relaxed);
  // Ghosts reach as far back as main is large.
  const auto window = (budget_.limit() - small_target(budget_)) / kShards;
  for (const auto& shard : shards_) {
    const threads::MutexLock lock(shard->mutex);
    shard->order.set_ghost_window(window);
  }
  make_room();
}

Found Store::find(const digest::Key& key, std::string_view url, const http::Fields& request) const {
  const HashedKey hashed(key);
  Shard& shard = *shards_[digest::part_of_hash(hashed.hash, kShards)];
  Found found;
  const threads::MutexLock lock(shard.mutex);
  if (Node* const chosen = shard.choose(hashed, url, request, found)) {
    S3Fifo::touch(*chosen);
    ++chosen->hits;
  }
  return found;
}

Found Store::peek(const digest::Key& key, std::string_view url, const http::Fields& request) const {
  Shard& shard = shard_of(key);
  Found found;
  const threads::MutexLock lock(shard.mutex);
  shard.choose(HashedKey(key), url, request, found);
  return found;
}

Departed Store::departed(const digest::Key& key, std::string_view url) const {
  Shard& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  const auto slot = shard.slots.find(key);
  const bool is_stored = slot != shard.slots.end() && slot->newest->entry->url() == url;
  return is_stored ? Departed() : shard.claims.departed(key);
}

// Here and below, what is dropped is declared before the lock, so that it is destroyed after it.
Stored Store::put(const digest::Key& key, Kept response, Time now, const Entry* superseded) {
  const Entry& entry = *response.entry;
  if (!entry.is_object() && entry.body.size > max_object()) return Stored::too_large;
  // To evict takes locks of shards, so room is made before this shard is locked.
  auto node = Node::make(key, std::move(response));
  Shard& shard = shard_of(key);
  if (!make_room_at(shard)) return Stored::no_room;
  Shard::Chain dropped;
  const threads::MutexLock lock(shard.mutex);
  dropped = shard.put(std::move(node), now, superseded);
  return Stored::yes;
}

Kept Store::adopt(const digest::Key& key, Kept response, Time now) {
  auto node = Node::make(key, response);
  Shard& shard = shard_of(key);
  if (!make_room_at(shard)) return response;
  Shard::Chain dropped;
  const threads::MutexLock lock(shard.mutex);
  const auto slot = shard.slots.find(key);
  if (slot != shard.slots.end()) {
    if (slot->newest->entry->url() != node->entry->url()) return response;  // their keys collide
    if (const auto* held = Shard::same_selection(*slot, *node)) {
      return {(*held)->entry, (*held)->on_disk()};
    }
  }
  shard.order.insert(*node);
  dropped = shard.remove_surplus(shard.insert(slot, std::move(node), now));
  return response;
}

bool Store::is_worth_room(const digest::Key& key, const Entry& entry) {
  // With room left, nothing would be displaced.
  if (!budget_.over()) return true;
  Shard& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  return shard.slots.contains(key) ||
         shard.order.returns(Shard::fingerprint_of(key), entry.footprint());
}

bool Store::was_used(const digest::Key& key) const {
  Shard& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  const auto slot = shard.slots.find(key);
  if (slot == shard.slots.end()) return false;
  const Node* node = slot->newest.get();
  while (node && node->frequency == 0) node = node->next.get();
  return node != nullptr;
}

bool Store::holds(const digest::Key& key) const {
  Shard& shard = shard_of(key);
  const threads::MutexLock lock(shard.mutex);
  return shard.slots.contains(key);
}

std::size_t Store::remove_at(const digest::Key& key, const Matches& matches) {
  Shard& shard = shard_of(key);
  Shard::Chain dropped;
  const threads::MutexLock lock(shard.mutex);
  const auto slot = shard.slots.find(key);
  if (slot != shard.slots.end()) dropped = shard.remove_if(slot, matches);
  return length(dropped);
}

void Store::drop(const digest::Key& key, const Entry& entry) {
  remove_at(key, [&entry](const Node& node) { return node.entry.get() == &entry; });
}

std::size_t Store::remove(const digest::Key& key) {
  return remove_at(key, [](const Node&) { return true; });
}

std::size_t Store::invalidate(const digest::Key& key, std::string_view url) {
  return remove_at(key, [url](const Node& node) { return node.entry->url() == url; });
}

std::size_t Store::remove_if(const std::function<bool(const Entry&)>& matches) {
  // Look-ups on the I/O threads wait meanwhile.
  constexpr std::size_t kAtOnce = 128;
  std::size_t removed = 0;
  std::vector<digest::Key> keys;
  for (std::size_t number = 0; number < kShards; ++number) {
    keys.clear();
    list(number, keys);
    Shard& shard = *shards_[number];
    for (std::span<const digest::Key> rest(keys); !rest.empty();) {
      std::vector<Shard::Chain> dropped;
      const threads::MutexLock lock(shard.mutex);
      const auto next = rest.first(std::min(rest.size(), kAtOnce));
      rest = rest.subspan(next.size());
      for (const auto& key : next) {
        const auto slot = shard.slots.find(key);
        if (slot == shard.slots.end()) continue;
        dropped.push_back(
            shard.remove_if(slot, [&matches](const Node& node) { return matches(*node.entry); }));
        removed += length(dropped.back());
      }
    }
  }
  return removed;
}

void Store::look(const digest::Key& key, std::vector<Response>& out) const {
  look(digest::part_of(key, kShards), {&key, 1}, out);
}

void Store::look(std::size_t number, std::span<const digest::Key> keys,
                 std::vector<Response>& out) const {
  Shard& shard = *shards_[number];
  const threads::MutexLock lock(shard.mutex);
  for (const auto& key : keys) {
    const auto slot = shard.slots.find(key);
    if (slot == shard.slots.end()) continue;
    for (const Node* node = slot->newest.get(); node; node = node->next.get()) {
      out.push_back({key, node->entry, node->on_disk(), std::uint32_t{node->hits}});
    }
  }
}

void Store::list(std::size_t number, std::vector<digest::Key>& out) const {
  Shard& shard = *shards_[number];
  const threads::MutexLock lock(shard.mutex);
  for (const auto& slot : shard.slots) out.push_back(slot.newest->key);
}

bool Store::make_room() {
  using Part = S3Fifo::Part;
  const auto evict_somewhere = [this](Part part) {
    for (std::size_t tried = 0; tried < kShards; ++tried) {
      const auto next = turn_.fetch_add(1, std::memory_order_relaxed) % kShards;
      if (evict(*shards_[next], part)) return true;
    }
    return false;
  };
  while (budget_.over()) {
    const Part first = part_to_shrink(totals_, budget_);
    const Part second = first == Part::small ? Part::main : Part::small;
    if (evict_somewhere(first) || evict_somewhere(second)) continue;
    // As the last resort, frees the memory of past evictions.
    for (const auto& shard : shards_) {
      const threads::MutexLock lock(shard->mutex);
      shard->order.forget_ghosts();
    }
    return !budget_.over();
  }
  return true;
}

// The shard that grows evicts first if it holds more entries than the average. Counts entries and
// not bytes: one large object must not displace the others in its shard.
bool Store::make_room_at(Shard& shard) {
  while (budget_.over() && shard.count.load(std::memory_order_relaxed) * kShards > entries()) {
    if (!evict(shard, part_to_shrink(totals_, budget_))) break;
  }
  return make_room();
}

bool Store::evict(Shard& shard, S3Fifo::Part part) {
  const auto is_duplicate = [this](const S3Fifo::Item& item) {
    const auto& node = static_cast<const Node&>(item);
    // A claim is of the URL: it does not say which variant is kept.
    const bool may_be_claimed = !node.is_on_disk() && !node.entry->variant().varies();
    const auto& kept_elsewhere = limits_.kept_elsewhere;
    return kept_elsewhere && may_be_claimed && kept_elsewhere(Shard::claim_of(node));
  };
  Shard::Chain evicted;
  const threads::MutexLock lock(shard.mutex);
  const auto victim = shard.order.evict(part, is_duplicate);
  if (!victim.item) return false;
  totals_.evicted.fetch_add(1, std::memory_order_relaxed);
  if (victim.is_duplicate) totals_.duplicates.fetch_add(1, std::memory_order_relaxed);
  auto* node = static_cast<Node*>(victim.item);
  // Blocks exist only where there is a disk, which has them.
  if (!victim.is_duplicate && !node->is_on_disk() && !node->is_block())
    totals_.lost.fetch_add(1, std::memory_order_relaxed);
  const auto slot = shard.slots.find(node->key);
  Shard::Chain* at = &slot->newest;
  while (at->get() != node) at = &(*at)->next;
  // The pages about the cache show the hits of a response wherever it is.
  if (below_ && node->hits > 0 && node->is_on_disk()) {
    below_->add_hits(node->on_disk()->key(), node->hits);
  }
  evicted = shard.remove(*slot, *at);
  if (!slot->newest) shard.slots.erase(slot);
  return true;
}

void Store::lose_departures(Time now) {
  for (const auto& shard : shards_) {
    const threads::MutexLock lock(shard->mutex);
    shard->claims.lose_departures(now);
  }
}

Collected Store::collect(Time now, std::vector<KeyChange>& out) {
  Collected all = Collected::complete;
  for (const auto& shard : shards_) {
    const threads::MutexLock lock(shard->mutex);
    shard->expire_claims(now);
    if (shard->claims.collect(out) == Collected::overflowed) all = Collected::overflowed;
  }
  // With a disk, the index below has the claims of both, so that each key is told once.
  if (!below_) return all;
  const auto before = out.size();
  const auto collected = below_->collect_claims(outlasted(now), out);
  // The index below knows no departures, so those from it are remembered here.
  for (const KeyChange& change : std::span(out).subspan(before)) {
    if (change.what != KeyChange::What::removed) continue;
    Shard& shard = shard_of(change.key);
    const threads::MutexLock lock(shard.mutex);
    shard.claims.remember_departure(change.key, now);
  }
  if (collected == Collected::overflowed) lose_departures(now);
  return collected;
}

void Store::list_claimed(Time now, std::vector<digest::Claim>& out) {
  for (const auto& shard : shards_) {
    const threads::MutexLock lock(shard->mutex);
    shard->expire_claims(now);  // first, as expired entries are not claimed
    shard->claims.restart();
    if (below_) continue;  // it has the claims of both tiers
    for (const auto& slot : shard->slots) {
      const ClaimCounts& variants = slot.newest->variants;
      if (variants.for_all > 0) out.push_back({slot.newest->key});
      if (variants.by_rule > 0) out.push_back({slot.newest->key, variants.rule});
    }
  }
  if (below_) below_->list_claims(outlasted(now), out);
}

Shard& Store::shard_of(const digest::Key& key) const {
  return *shards_[digest::part_of(key, kShards)];
}

}  // namespace proxy::cache
