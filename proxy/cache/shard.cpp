#include "proxy/cache/shard.hpp"

#include <algorithm>
#include <utility>

namespace proxy::cache {
namespace {

// A node's share of a flat set just after the set has grown (slot size over 0.875 / 2, and its
// metadata), and what the allocator notes of the node and of the entry.
constexpr std::uint64_t kSlotBytes = 32;

// What make_shared() and malloc add to a shared object.
constexpr std::uint64_t kSharedBytes = 32;

// The node of a response that is on disk, too, or will be.
struct NodeOverDisk final : Node {
  NodeOverDisk(const digest::Key& its_key, Kept kept)
      : Node(its_key, {std::move(kept.entry)}, Over::disk), place(std::move(kept.on_disk)) {}

  const std::shared_ptr<OnDisk> place;
};

const std::shared_ptr<OnDisk> kNotOnDisk;

std::uint64_t node_bytes(bool over_disk) {
  if (!over_disk) return heap_bytes(sizeof(Node)) + kSlotBytes;
  return heap_bytes(sizeof(NodeOverDisk)) + kSlotBytes + heap_bytes(sizeof(OnDisk) + kSharedBytes);
}

std::uint32_t fingerprint_of_item(const S3Fifo::Item& item) {
  return Shard::fingerprint_of(static_cast<const Node&>(item).key);
}

// Whether an object may be claimed, its blocks on disk decide (disk/object_claims.hpp).
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

// The node of this entry, or null.
Shard::Chain* place_of(Shard::Chain& newest, const Entry* entry) {
  for (Shard::Chain* at = &newest; entry && *at; at = &(*at)->next) {
    if ((*at)->entry.get() == entry) return at;
  }
  return nullptr;
}

}  // namespace

std::unique_ptr<Node> Node::make(const digest::Key& its_key, Kept kept) {
  Node* const node = kept.on_disk ? new NodeOverDisk(its_key, std::move(kept))
                                  : new Node(its_key, std::move(kept), Over::nothing);
  return std::unique_ptr<Node>(node);
}

Node::Node(const digest::Key& its_key, Kept kept, Over over)
    : Item(kept.entry->footprint() + node_bytes(over == Over::disk)),
      Claimable(its_key),
      has_on_disk(over == Over::disk),
      entry(std::move(kept.entry)) {
  entry->budget().charge(node_bytes(has_on_disk));
}

Node::~Node() {
  entry->budget().release(node_bytes(has_on_disk));
}

// A virtual destructor would cost each node a pointer.
void Node::operator delete(Node* node, std::destroying_delete_t /*destroys*/) {
  if (node->has_on_disk) {
    static_cast<NodeOverDisk*>(node)->~NodeOverDisk();
  } else {
    node->~Node();
  }
  ::operator delete(node);
}

const std::shared_ptr<OnDisk>& Node::on_disk() const {
  return has_on_disk ? static_cast<const NodeOverDisk*>(this)->place : kNotOnDisk;
}

Shard::Shard(Budget& budget, const StoreLimits& limits, Totals& totals, disk::Index* below,
             threads::Alarm* newly_claimed)
    : order(budget, totals.small_bytes, fingerprint_of_item),
      claims(budget, limits, below, newly_claimed),
      max_variants_(std::min(limits.variants, ClaimCounts::kMost)),
      totals_(totals) {}

std::uint32_t Shard::fingerprint_of(const digest::Key& key) {
  const auto hash = digest::KeyHash{}(key);
  return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

digest::Claim Shard::claim_of(const Node& node) {
  return {node.key, claimable_alone(*node.entry).rule};
}

Node* Shard::choose(const HashedKey& key, std::string_view url, const http::Fields& request,
                    Found& found) {
  const auto slot = slots.find(key);
  if (slot == slots.end() || slot->newest->entry->url() != url) return nullptr;
  Node* chosen = nullptr;
  std::optional<http::NormalForms> forms;
  // Most URLs have one response without Vary: no normal forms are made for these.
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

Shard::Chain Shard::put(Chain node, Time now, const Entry* superseded) {
  const auto slot = slots.find(node->key);
  if (slot == slots.end()) {
    order.insert(*node);
    insert(slot, std::move(node), now);
    return {};
  }
  const bool collide = slot->newest->entry->url() != node->entry->url();  // two URLs with one key
  Chain* at = collide ? nullptr : same_selection(*slot, *node);
  if (!at && !collide) at = place_of(slot->newest, superseded);
  Node* const old = at ? at->get() : nullptr;
  if (old) {
    order.replace(*old, *node);
    // The same response for those who look at the pages, though its head is new.
    if (is_newer_head(*node->entry, *old->entry)) node->hits = old->hits;
  } else {
    order.insert(*node);
  }
  const Node* const fresh = node.get();
  insert(slot, std::move(node), now);  // first, because a replacement must not end a claim
  if (collide) return remove_if(slot, [fresh](const Node& other) { return &other != fresh; });
  if (!old) return remove_surplus(*slot);
  // The new node stands in front now, so `at` may not lead to the old one any more.
  Chain* place = &slot->newest->next;
  while (place->get() != old) place = &(*place)->next;
  Chain dropped = remove(*slot, *place);
  if (Chain* other = place_of(slot->newest->next, superseded)) {
    order.erase(**other);
    dropped->next = remove(*slot, *other);
  }
  return dropped;
}

const Shard::Slot& Shard::insert(Set::iterator slot, Chain node, Time now) {
  totals_.entries.fetch_add(1, std::memory_order_relaxed);
  if (node->is_block()) totals_.blocks.fetch_add(1, std::memory_order_relaxed);
  totals_.bytes.fetch_add(node->bytes, std::memory_order_relaxed);
  count.fetch_add(1, std::memory_order_relaxed);
  if (slot == slots.end()) {
    slot = slots.insert(Slot{std::move(node)}).first;
  } else {
    node->variants = slot->newest->variants;
    node->next = std::move(slot->newest);
    slot->newest = std::move(node);
  }
  Node& newest = *slot->newest;
  claims.add(newest, claimable_alone(*newest.entry), newest.variants, now);
  return *slot;
}

Shard::Chain* Shard::same_selection(const Slot& slot, const Node& node) {
  for (Chain* at = &slot.newest; *at; at = &(*at)->next) {
    if ((*at)->entry->variant() == node.entry->variant()) return at;
  }
  return nullptr;
}

Shard::Chain Shard::remove(const Slot& slot, Chain& at) {
  ClaimCounts variants = slot.newest->variants;
  Chain taken = std::move(at);
  at = std::move(taken->next);
  claims.end(*taken, variants);
  if (slot.newest) slot.newest->variants = variants;
  totals_.entries.fetch_sub(1, std::memory_order_relaxed);
  if (taken->is_block()) totals_.blocks.fetch_sub(1, std::memory_order_relaxed);
  totals_.bytes.fetch_sub(taken->bytes, std::memory_order_relaxed);
  count.fetch_sub(1, std::memory_order_relaxed);
  return taken;
}

Shard::Chain Shard::remove_if(Set::iterator slot, const std::function<bool(const Node&)>& matches) {
  Chain all;
  for (Chain* at = &slot->newest; *at;) {
    if (!matches(**at)) {
      at = &(*at)->next;
      continue;
    }
    order.erase(**at);
    Chain taken = remove(*slot, *at);
    taken->next = std::move(all);
    all = std::move(taken);
  }
  if (!slot->newest) slots.erase(slot);
  return all;
}

// If there are too many variants, removes the oldest of those used least. The newest stays, because
// nothing could have used it yet. If all others were used, each loses one of its uses, so that no
// variant stays for old uses alone.
Shard::Chain Shard::remove_surplus(const Slot& slot) {
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
  order.erase(**least);
  return remove(slot, *least);
}

void Shard::expire_claims(Time now) {
  while (Claimable* ended = claims.outlived(now)) {
    ClaimCounts& variants = slots.find(ended->key)->newest->variants;
    claims.end(*ended, variants);
    claims.add(*ended, claimable_alone(*static_cast<Node*>(ended)->entry), variants, now);
  }
}

}  // namespace proxy::cache
