#include "proxy/cache/s3_fifo.hpp"

namespace proxy::cache {

void GhostList::remember(std::uint64_t fingerprint, std::uint64_t bytes) {
  evicted_ += bytes;
  ghosts_.push_back({fingerprint, evicted_});
  latest_[fingerprint] = evicted_;
  budget_.charge(kGhostBytes);
  // In bytes, since the sizes of items differ; the paper has as many ghosts as main has items.
  while (ghosts_.front().position + window_ < evicted_) drop_oldest();
}

void GhostList::drop_oldest() {
  const Ghost oldest = ghosts_.front();
  ghosts_.pop_front();
  budget_.release(kGhostBytes);
  // The item may have been evicted once more since, and then has a later record.
  const auto latest = latest_.find(oldest.fingerprint);
  if (latest != latest_.end() && latest->second == oldest.position) latest_.erase(latest);
}

void GhostList::clear() {
  budget_.release(ghosts_.size() * kGhostBytes);
  ghosts_ = {};
  latest_ = {};
}

void S3Fifo::insert(Item& item) {
  push(item, ghosts_.recall(fingerprint_(item)) ? Part::main : Part::small);
}

bool S3Fifo::returns(std::uint32_t fingerprint, std::uint64_t bytes) {
  if (ghosts_.has(fingerprint)) return true;
  ghosts_.remember(fingerprint, bytes);
  return false;
}

void S3Fifo::push(Item& item, Part part) {
  item.part = part;
  queue(part).push_back(item);
  if (part == Part::small) small_bytes_.fetch_add(item.bytes, std::memory_order_relaxed);
}

void S3Fifo::replace(Item& old, Item& fresh) {
  fresh.part = old.part;
  fresh.frequency = old.frequency;
  // In the same place: only uses let an item live longer.
  queue(old.part).insert(Queue::s_iterator_to(old), fresh);
  if (fresh.part == Part::small) small_bytes_.fetch_add(fresh.bytes, std::memory_order_relaxed);
  erase(old);
}

void S3Fifo::erase(Item& item) {
  queue(item.part).erase(Queue::s_iterator_to(item));
  if (item.part == Part::small) small_bytes_.fetch_sub(item.bytes, std::memory_order_relaxed);
}

S3Fifo::Evicted S3Fifo::evict(Part part, const IsDuplicate& is_duplicate) {
  if (Item* duplicate = evict_duplicate(part, is_duplicate)) return {duplicate, true};
  return {part == Part::main ? evict_main() : evict_small()};
}

S3Fifo::Item* S3Fifo::evict_duplicate(Part part, const IsDuplicate& is_duplicate) {
  int left = kOldest;
  for (Item& item : queue(part)) {
    // The search is short, as the lock of the shard is held.
    if (left-- == 0) break;
    if (!is_duplicate(item)) continue;
    erase(item);
    return &item;
  }
  return nullptr;
}

S3Fifo::Item* S3Fifo::evict_small() {
  while (!small_.empty()) {
    Item& oldest = small_.front();
    erase(oldest);
    if (oldest.frequency <= kPromoteAbove) {
      ghosts_.remember(fingerprint_(oldest), oldest.bytes);
      return &oldest;
    }
    // What it was used for in the small part does not count in main (as in the paper).
    oldest.frequency = 0;
    push(oldest, Part::main);
  }
  return nullptr;
}

S3Fifo::Item* S3Fifo::evict_main() {
  while (!main_.empty()) {
    Item& oldest = main_.front();
    erase(oldest);
    if (oldest.frequency == 0) return &oldest;
    --oldest.frequency;
    push(oldest, Part::main);
  }
  return nullptr;
}

}  // namespace proxy::cache
