#include "proxy/cache/shard.hpp"

#include <algorithm>
#include <utility>

#include "proxy/cache/on_disk.hpp"

namespace proxy::cache {
namespace {

std::uint32_t fingerprint_of(const digest::Key& key) {
  const auto hash = digest::KeyHash{}(key);
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}
std::uint32_t fingerprint_of_item(const S3Fifo::Item& item) {
  return fingerprint_of(static_cast<const Node&>(item).key);
}

// Whether an object may be claimed, its blocks on disk decide (disk/log/object_claims.hpp).
ClaimTerms claimable_alone(const Entry& entry) {
  if (entry.is_object()) return {};
  if (entry.is_part()) return {Time::min(), digest::kOfPart, entry.claimable_in_part_until()};
  return {entry.claimable_until(), digest::mark_of(entry.rule()), entry.claimable_by_rule_until()};
}

// RFC 9111 4 and 4.1: of two that match, the one with Vary, else the one with the later Date. But
// what a guest says about itself does not hide what the origin gave.
bool is_preferred(const Entry& one, const Entry& other) {
  if (one.giver().guest != other.giver().guest) return other.giver().guest;
  const bool varies = one.variant().varies();
  return varies == other.variant().varies() ? one.date() > other.date() : varies;
}

// Whether the entry is the same response with a newer head, after a validation.
bool is_newer_head(const Entry& entry, const Entry& old) {
  if (entry.is_object() || old.is_object()) return entry.object() == old.object();
  const auto& body = entry.body.slices;
  const auto& old_body = old.body.slices;
  if (body.empty() || old_body.empty()) return body.empty() && old_body.empty();
  return body.front().block == old_body.front().block;
}

}  // namespace

Shard::Shard(Budget& budget, std::uint64_t ghost_window, const StoreLimits& limits, Totals& totals,
             disk::Index* below, threads::Alarm* newly_claimed)
    : max_variants_(std::min(limits.variants, ClaimCounts::kMost)),
      kept_elsewhere_(limits.kept_elsewhere),
      totals_(totals),
      below_(below),
      order_(budget, ghost_window, totals.small_bytes, fingerprint_of_item),
      claims_(budget, limits, below, newly_claimed) {}

Found Shard::find(const HashedKey& key, std::string_view url, const http::Fields& request) {
  const threads::MutexLock lock(mutex_);
  Found found;
  if (Node* const chosen = choose(key, url, request, found)) {
    S3Fifo::touch(*chosen);
    ++chosen->hits;
  }
  return found;
}

Found Shard::peek(const HashedKey& key, std::string_view url, const http::Fields& request) {
  const threads::MutexLock lock(mutex_);
  Found found;
  choose(key, url, request, found);
  return found;
}

Departed Shard::departed(const HashedKey& key, std::string_view url) {
  const threads::MutexLock lock(mutex_);
  const auto slot = slots_.find(key);
  const bool is_stored = slot != slots_.end() && slot->newest->entry->url() == url;
  return is_stored ? Departed() : claims_.departed(key.key);
}

Node* Shard::choose(const HashedKey& key, std::string_view url, const http::Fields& request,
                    Found& found) {
  const auto slot = slots_.find(key);
  if (slot == slots_.end() || slot->newest->entry->url() != url) return nullptr;
  Node* chosen = nullptr;
  std::optional<http::NormalForms> forms;
  const auto matches = [&](const http::Variant& variant) {
    if (!variant.varies()) return !request.any_selects();
    if (!forms) forms.emplace(request);
    return variant.matches(*forms);
  };
  for (Node* node = slot->newest.get(); node; node = node->next.get()) {
    if (chosen && !is_preferred(*node->entry, *chosen->entry)) continue;
    if (matches(node->entry->variant())) chosen = node;
  }
  found.varies = !chosen;
  if (!chosen) return nullptr;
  found.entry = chosen->entry;
  if (chosen->has_on_disk) found.on_disk = chosen->on_disk();
  return chosen;
}

Shard::Chain Shard::put(std::unique_ptr<Node> node, Time now, const Entry* superseded) {
  const threads::MutexLock lock(mutex_);
  const auto slot = slots_.find(node->key);
  if (slot == slots_.end()) {
    order_.insert(*node);
    insert(slot, std::move(node), now);
    return {};
  }
  const bool collide = slot->newest->entry->url() != node->entry->url();  // two URLs with one key
  Chain* at = collide ? nullptr : same_selection(*slot, *node);
  if (!at && !collide) at = place_of(slot->newest, superseded);
  Node* const old = at ? at->get() : nullptr;
  if (old) {
    order_.replace(*old, *node);
    if (is_newer_head(*node->entry, *old->entry)) node->hits = old->hits;
  } else {
    order_.insert(*node);
  }
  const Node* const fresh = node.get();
  insert(slot, std::move(node), now);  // first, because a replacement must not end a claim
  if (collide) return take_if(*slot, [fresh](const Node& other) { return &other != fresh; });
  if (!old) return take_surplus(*slot);
  Chain* place = &slot->newest->next;
  while (place->get() != old) place = &(*place)->next;
  Chain dropped = take(*slot, *place);
  if (Chain* other = place_of(slot->newest->next, superseded)) {
    order_.erase(**other);
    dropped->next = take(*slot, *other);
  }
  return dropped;
}

const Shard::Slot& Shard::insert(Set::iterator slot, Chain node, Time now) {
  totals_.entries.fetch_add(1, std::memory_order_relaxed);
  if (node->is_block()) totals_.blocks.fetch_add(1, std::memory_order_relaxed);
  totals_.bytes.fetch_add(node->bytes, std::memory_order_relaxed);
  count_.fetch_add(1, std::memory_order_relaxed);
  if (slot == slots_.end()) {
    slot = slots_.insert(Slot{std::move(node)}).first;
  } else {
    node->variants = slot->newest->variants;
    node->next = std::move(slot->newest);
    slot->newest = std::move(node);
  }
  Node& newest = *slot->newest;
  claims_.add(newest, claimable_alone(*newest.entry), newest.variants, now);
  return *slot;
}

Kept Shard::adopt(Chain& node, Time now) {
  const threads::MutexLock lock(mutex_);
  const auto slot = slots_.find(node->key);
  if (slot != slots_.end()) {
    if (slot->newest->entry->url() != node->entry->url()) return {};  // their keys collide
    if (const Chain* held = same_selection(*slot, *node)) {
      return {(*held)->entry, (*held)->on_disk()};
    }
  }
  Kept adopted{node->entry, node->on_disk()};
  order_.insert(*node);
  node = take_surplus(insert(slot, std::move(node), now));
  return adopted;
}

bool Shard::returns(const digest::Key& key, std::uint64_t bytes) {
  const threads::MutexLock lock(mutex_);
  return slots_.contains(key) || order_.returns(fingerprint_of(key), bytes);
}

bool Shard::was_used(const digest::Key& key) {
  const threads::MutexLock lock(mutex_);
  const auto slot = slots_.find(key);
  if (slot == slots_.end()) return false;
  const Node* node = slot->newest.get();
  while (node && node->frequency == 0) node = node->next.get();
  return node != nullptr;
}

bool Shard::holds(const digest::Key& key) {
  const threads::MutexLock lock(mutex_);
  return slots_.contains(key);
}

Shard::Chain Shard::drop(const digest::Key& key, const Entry* entry) {
  const threads::MutexLock lock(mutex_);
  const auto slot = slots_.find(key);
  if (slot == slots_.end()) return {};
  Chain* at = place_of(slot->newest, entry);
  if (!at) return {};
  order_.erase(**at);
  Chain dropped = take(*slot, *at);
  if (!slot->newest) slots_.erase(slot);
  return dropped;
}

Shard::Chain Shard::remove(const digest::Key& key, std::optional<std::string_view> url) {
  const threads::MutexLock lock(mutex_);
  const auto slot = slots_.find(key);
  if (slot == slots_.end() || (url && slot->newest->entry->url() != *url)) return {};
  Chain dropped = take_all(*slot);
  slots_.erase(slot);
  return dropped;
}

std::vector<Shard::Chain> Shard::remove_if(std::span<const digest::Key> keys,
                                           const std::function<bool(const Entry&)>& matches) {
  std::vector<Chain> dropped;
  const threads::MutexLock lock(mutex_);
  for (const auto& key : keys) {
    const auto slot = slots_.find(key);
    if (slot == slots_.end()) continue;
    dropped.push_back(
        take_if(*slot, [&matches](const Node& node) { return matches(*node.entry); }));
    if (!slot->newest) slots_.erase(slot);
  }
  return dropped;
}

void Shard::look(std::span<const digest::Key> keys, std::vector<Store::Response>& out) {
  const threads::MutexLock lock(mutex_);
  for (const auto& key : keys) {
    const auto slot = slots_.find(key);
    if (slot == slots_.end()) continue;
    for (const Node* node = slot->newest.get(); node; node = node->next.get()) {
      out.push_back({key, node->entry, node->on_disk(), std::uint32_t{node->hits}});
    }
  }
}

Shard::Chain Shard::evict(S3Fifo::Part part) {
  const threads::MutexLock lock(mutex_);
  const auto is_duplicate = [this](const S3Fifo::Item& item) {
    const auto& node = static_cast<const Node&>(item);
    // A claim is of the URL: it does not say which variant is kept.
    const bool may_be_claimed = !node.is_on_disk() && !node.entry->variant().varies();
    return kept_elsewhere_ && may_be_claimed &&
           kept_elsewhere_({node.key, claimable_alone(*node.entry).rule});
  };
  const auto victim = order_.evict(part, is_duplicate);
  if (!victim.item) return {};
  totals_.evicted.fetch_add(1, std::memory_order_relaxed);
  if (victim.is_duplicate) totals_.duplicates.fetch_add(1, std::memory_order_relaxed);
  auto* node = static_cast<Node*>(victim.item);
  const auto slot = slots_.find(node->key);
  Chain* at = &slot->newest;
  while (at->get() != node) at = &(*at)->next;
  if (below_ && node->hits > 0 && node->is_on_disk()) {
    below_->add_hits(node->on_disk()->key(), node->hits);
  }
  Chain evicted = take(*slot, *at);
  if (!slot->newest) slots_.erase(slot);
  return evicted;
}

void Shard::forget_ghosts() {
  const threads::MutexLock lock(mutex_);
  order_.forget_ghosts();
}

void Shard::set_ghost_window(std::uint64_t window) {
  const threads::MutexLock lock(mutex_);
  order_.set_ghost_window(window);
}

void Shard::lose_departures(Time now) {
  const threads::MutexLock lock(mutex_);
  claims_.lose_departures(now);
}

void Shard::remember_departure(const digest::Key& key, Time now) {
  const threads::MutexLock lock(mutex_);
  claims_.remember_departure(key, now);
}

Collected Shard::collect(Time now, std::vector<KeyChange>& out) {
  const threads::MutexLock lock(mutex_);
  expire_claims(now);
  return claims_.collect(out);
}

void Shard::list(std::vector<digest::Key>& out) {
  const threads::MutexLock lock(mutex_);
  for (const Slot& slot : slots_) out.push_back(slot.newest->key);
}

void Shard::list_claimed(Time now, std::vector<digest::Claim>& out) {
  const threads::MutexLock lock(mutex_);
  expire_claims(now);
  claims_.restart();
  for (const Slot& slot : slots_) {
    const ClaimCounts& variants = slot.newest->variants;
    if (variants.for_all > 0) out.push_back({slot.newest->key});
    if (variants.by_rule > 0) out.push_back({slot.newest->key, variants.rule});
  }
}

Shard::Chain* Shard::same_selection(const Slot& slot, const Node& node) {
  for (Chain* at = &slot.newest; *at; at = &(*at)->next) {
    if ((*at)->entry->variant() == node.entry->variant()) return at;
  }
  return nullptr;
}

Shard::Chain* Shard::place_of(Chain& newest, const Entry* entry) {
  for (Chain* at = &newest; entry && *at; at = &(*at)->next) {
    if ((*at)->entry.get() == entry) return at;
  }
  return nullptr;
}

Shard::Chain Shard::take(const Slot& slot, Chain& at) {
  ClaimCounts variants = slot.newest->variants;
  Chain taken = std::move(at);
  at = std::move(taken->next);
  claims_.end(*taken, variants);
  if (slot.newest) slot.newest->variants = variants;
  totals_.entries.fetch_sub(1, std::memory_order_relaxed);
  if (taken->is_block()) totals_.blocks.fetch_sub(1, std::memory_order_relaxed);
  totals_.bytes.fetch_sub(taken->bytes, std::memory_order_relaxed);
  count_.fetch_sub(1, std::memory_order_relaxed);
  return taken;
}

Shard::Chain Shard::take_if(const Slot& slot, const std::function<bool(const Node&)>& matches) {
  Chain all;
  for (Chain* at = &slot.newest; *at;) {
    if (!matches(**at)) {
      at = &(*at)->next;
      continue;
    }
    order_.erase(**at);
    Chain taken = take(slot, *at);
    taken->next = std::move(all);
    all = std::move(taken);
  }
  return all;
}

Shard::Chain Shard::take_all(const Slot& slot) {
  return take_if(slot, [](const Node&) { return true; });
}

// If there are too many variants, removes the oldest of those used least. The newest stays, because
// nothing could have used it yet. If all others were used, each loses one of its uses, so that no
// variant stays for old uses alone.
Shard::Chain Shard::take_surplus(const Slot& slot) {
  std::size_t held = 1;
  Chain* least = nullptr;
  for (Chain* at = &slot.newest->next; *at; at = &(*at)->next) {
    ++held;
    if (!least || (*at)->frequency <= (*least)->frequency) least = at;
  }
  if (held <= max_variants_ || !least) return {};
  if ((*least)->frequency > 0) {
    for (Node* node = slot.newest->next.get(); node; node = node->next.get()) --node->frequency;
  }
  order_.erase(**least);
  return take(slot, *least);
}

void Shard::expire_claims(Time now) {
  while (Claimable* ended = claims_.outlived(now)) {
    ClaimCounts& variants = slots_.find(ended->key)->newest->variants;
    claims_.end(*ended, variants);
    claims_.add(*ended, claimable_alone(*static_cast<Node*>(ended)->entry), variants, now);
  }
}

}  // namespace proxy::cache
