#include "proxy/cache/disk_tier/asked_twice.hpp"

#include <algorithm>
#include <cstring>

namespace proxy::cache {
namespace {

constexpr std::uint64_t kMostUrls = std::uint64_t{4} << 20;
constexpr std::uint64_t kShare = 128;
constexpr auto kRelaxed = std::memory_order_relaxed;

// Identifies a URL in its group. Never 0, and leaves the bit kTwice clear.
std::uint32_t told_by(const digest::Key& key) {
  std::uint32_t part = 0;
  std::memcpy(&part, key.bytes.data(), sizeof part);
  part &= ~std::uint32_t{1};
  return part == 0 ? 2 : part;
}

}  // namespace

AskedTwice::AskedTwice(Budget& budget, std::uint64_t urls)
    : groups_(static_cast<std::size_t>(std::max<std::uint64_t>(urls / kGroup, 1))),
      charge_(budget, groups_ * kGroup * sizeof(Slot)),
      slots_(std::make_unique<Slot[]>(groups_ * kGroup)) {}

std::uint64_t AskedTwice::fitting(std::uint64_t memory) {
  return std::min(memory / kShare / sizeof(Slot), kMostUrls);
}

AskedTwice::Slot* AskedTwice::group_of(const digest::Key& url_key) const {
  return &slots_[digest::part_of(url_key, groups_) * kGroup];
}

void AskedTwice::note(const digest::Key& url_key) {
  const auto told = told_by(url_key);
  Slot* const group = group_of(url_key);
  for (std::size_t i = 0; i < kGroup; ++i) {
    const auto held = group[i].load(kRelaxed);
    if ((held & ~kTwice) != told) continue;
    if (held == told) group[i].store(told | kTwice, kRelaxed);
    return;
  }
  for (std::size_t i = kGroup - 1; i > 0; --i) {
    group[i].store(group[i - 1].load(kRelaxed), kRelaxed);
  }
  group[0].store(told, kRelaxed);
}

bool AskedTwice::holds(const digest::Key& url_key) const {
  const Slot* const group = group_of(url_key);
  return std::any_of(group, group + kGroup, [twice = told_by(url_key) | kTwice](const Slot& slot) {
    return slot.load(kRelaxed) == twice;
  });
}

}  // namespace proxy::cache
