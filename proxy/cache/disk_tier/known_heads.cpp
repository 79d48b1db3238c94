#include "proxy/cache/disk_tier/known_heads.hpp"

#include <utility>

namespace proxy::cache {
namespace {

using disk::to_number;

constexpr std::uint64_t kShare = 8;  // of the budget's limit
// A larger head would displace many others.
constexpr std::uint64_t kLargest = 16 * 1024;

// The object with its reference counts, a node of the map, the slot's share of its buckets and of
// the order, and malloc's overhead.
constexpr std::uint64_t kOverhead = sizeof(KnownHead) + 128;

std::uint64_t bytes_of(const KnownHead& head) {
  return head.entry->footprint() + kOverhead;
}

// Another directory may have given the number to another segment, so numbers alone do not tell
// segments apart. The owners of their control blocks do.
bool is_same(const std::shared_ptr<const disk::Segment>& found,
             const std::weak_ptr<const disk::Segment>& known) {
  return found && !found.owner_before(known) && !known.owner_before(found);
}

disk::StoredBody without_segment(disk::StoredBody body) {
  body.segment = nullptr;
  return body;
}

}  // namespace

KnownHead::KnownHead(Ref<const Entry> its_entry, std::uint64_t its_selector, disk::StoredBody body,
                     const std::shared_ptr<const disk::Segment>& front)
    : entry(std::move(its_entry)),
      selector(its_selector),
      place(without_segment(body)),
      front_segment_(front),
      body_segment_(body.segment) {}

std::optional<disk::StoredBody> KnownHead::body(const disk::Segments& segments) const {
  auto segment = segments.find(place.at.segment);
  if (!is_same(segment, body_segment_)) return std::nullopt;
  const bool is_apart = place.front.segment != place.at.segment;
  if (is_apart && !is_same(segments.find(place.front.segment), front_segment_)) return std::nullopt;
  disk::StoredBody body = place;
  body.segment = std::move(segment);
  return body;
}

KnownHeads::Head KnownHeads::find(disk::Position at) {
  const auto number = to_number(at);
  auto& shard = shard_of(number);
  const threads::MutexLock lock(shard.mutex);
  const auto found = shard.heads.find(number);
  if (found == shard.heads.end()) return nullptr;
  found->second.used = true;
  return found->second.head;
}

void KnownHeads::record(Head head) {
  if (bytes_of(*head) > kLargest) return;
  const auto number = to_number(head->place.front);
  auto& shard = shard_of(number);
  std::vector<Head> forgotten;  // destroyed after the lock
  const threads::MutexLock lock(shard.mutex);
  auto& slot = shard.heads[number];
  if (slot.head) {
    shard.bytes -= bytes_of(*slot.head);
    forgotten.push_back(std::move(slot.head));
  } else {
    shard.order.push_back(number);
    budget_.charge(kOverhead);
  }
  shard.bytes += bytes_of(*head);
  slot.head = std::move(head);
  for (auto& one : forget_some(shard)) forgotten.push_back(std::move(one));
}

std::vector<KnownHeads::Head> KnownHeads::forget_some(Shard& shard) {
  std::vector<Head> forgotten;
  while (shard.bytes > budget_.limit() / kShare / kShards && !shard.order.empty()) {
    const auto number = shard.order.front();
    shard.order.pop_front();
    const auto found = shard.heads.find(number);
    if (std::exchange(found->second.used, false)) {
      shard.order.push_back(number);
      continue;
    }
    shard.bytes -= bytes_of(*found->second.head);
    budget_.release(kOverhead);
    forgotten.push_back(std::move(found->second.head));
    shard.heads.erase(found);
  }
  return forgotten;
}

void KnownHeads::clear() {
  for (auto& shard : shards_) {
    std::unordered_map<std::uint64_t, Slot> forgotten;  // destroyed after the lock
    const threads::MutexLock lock(shard.mutex);
    budget_.release(shard.heads.size() * kOverhead);
    forgotten.swap(shard.heads);
    shard.order.clear();
    shard.bytes = 0;
  }
}

std::uint64_t KnownHeads::bytes() const {
  std::uint64_t all = 0;
  for (const auto& shard : shards_) {
    const threads::MutexLock lock(shard.mutex);
    all += shard.bytes;
  }
  return all;
}

// Multiplicative hashing (Knuth, volume 3, 6.4).
KnownHeads::Shard& KnownHeads::shard_of(std::uint64_t at) {
  return shards_[at * 0x9e3779b97f4a7c15U >> 60];
}

}  // namespace proxy::cache
