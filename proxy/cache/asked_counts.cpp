#include "proxy/cache/asked_counts.hpp"

#include <algorithm>
#include <cstring>

namespace proxy::cache {
namespace {

constexpr std::uint64_t kMostUrls = std::uint64_t{4} << 20;
constexpr std::uint64_t kShareOfMemory = 128;
constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

AskedCounts::AskedCounts(Budget& budget, std::uint64_t urls)
    : groups_(static_cast<std::size_t>(std::max<std::uint64_t>(urls / kGroup, 1))),
      charge_(budget, groups_ * kGroup * sizeof(Slot)),
      slots_(std::make_unique<Slot[]>(groups_ * kGroup)) {}

std::uint64_t AskedCounts::fitting(std::uint64_t memory) {
  return std::min(memory / kShareOfMemory / sizeof(Slot), kMostUrls);
}

std::uint32_t AskedCounts::mark_of(const digest::Key& key) {
  std::uint32_t part = 0;
  std::memcpy(&part, key.bytes.data(), sizeof part);
  part &= ~kCount;
  // 0 stands for an empty slot.
  return part == 0 ? kCount + 1 : part;
}

AskedCounts::Slot* AskedCounts::group_of(const digest::Key& url_key) const {
  return &slots_[digest::part_of(url_key, groups_) * kGroup];
}

// Eight neighbouring slots lie in half a cache line, so that a search costs one access to memory.
AskedCounts::Slot* AskedCounts::find(const digest::Key& url_key) const {
  Slot* const group = group_of(url_key);
  Slot* const found = std::find_if(
      group, group + kGroup,
      [told = mark_of(url_key)](const Slot& at) { return (at.load(kRelaxed) & ~kCount) == told; });
  return found == group + kGroup ? nullptr : found;
}

void AskedCounts::record(const digest::Key& url_key) {
  if (Slot* const slot = find(url_key)) {
    const auto held = slot->load(kRelaxed);
    if ((held & kCount) < kMost) slot->store(held + 1, kRelaxed);
    return;
  }
  Slot* const group = group_of(url_key);
  // Without a lock: a URL that another thread records at the same moment may be lost, and is then
  // counted one request later. Exact counts are not worth a lock on each request.
  for (std::size_t i = kGroup - 1; i > 0; --i) {
    group[i].store(group[i - 1].load(kRelaxed), kRelaxed);
  }
  group[0].store(mark_of(url_key) + 1, kRelaxed);
}

unsigned AskedCounts::of(const digest::Key& url_key) const {
  const Slot* const slot = find(url_key);
  return slot ? slot->load(kRelaxed) & kCount : 0;
}

void AskedCounts::forget(const digest::Key& url_key) {
  if (Slot* const slot = find(url_key)) slot->store(mark_of(url_key), kRelaxed);
}

}  // namespace proxy::cache
