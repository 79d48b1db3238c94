#include "peers/generations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace peers {
namespace {

// Neighbours poll at about the same pace, so they ask for few different bases.
constexpr std::size_t kMaxMade = 16;

// Kept however small the filter is: 64 KiB, and a delta with this many positions may still be
// shorter than a snapshot.
constexpr std::size_t kMinFlips = std::size_t{1} << 14;

// The positions that occur an odd number of times, rising. Bits flipped an even number of times are
// unchanged.
std::vector<std::uint32_t> odd_ones(std::vector<std::uint32_t> turned) {
  std::sort(turned.begin(), turned.end());
  auto kept = turned.begin();
  for (auto first = turned.begin(); first != turned.end();) {
    const auto next =
        std::find_if(first, turned.end(), [first](auto flip) { return flip != *first; });
    if ((next - first) % 2 == 1) *kept++ = *first;
    first = next;
  }
  turned.erase(kept, turned.end());
  return turned;
}

std::vector<std::uint32_t> merge(
    const std::vector<std::shared_ptr<const std::vector<std::uint32_t>>>& steps) {
  std::vector<std::uint32_t> all;
  for (const auto& step : steps) all.insert(all.end(), step->begin(), step->end());
  return odd_ones(std::move(all));
}

bool same_generation(const digest::NativeHead& a, const digest::NativeHead& b) {
  return a.epoch == b.epoch && a.generation == b.generation;
}

}  // namespace

std::string native_etag(std::uint64_t epoch, std::uint64_t generation) {
  return fmt::format("\"{:016x}-{}\"", epoch, generation);
}

void Generations::begin(digest::NativeHead next, std::vector<std::uint8_t> bits) {
  next.checksum = digest::checksum_of(bits);
  std::deque<Flips> dropped;  // destroyed after the locks are released
  Made unmade;
  const threads::MutexLock bits_lock(bits_mutex_);
  const threads::MutexLock lock(mutex_);
  bits_.swap(bits);
  newest_ = next;
  dropped.swap(steps_);
  unmade.swap(made_);
  flips_kept_ = 0;
}

void Generations::close(digest::NativeHead next, std::vector<std::uint32_t> turned) {
  auto flips = std::make_shared<const std::vector<std::uint32_t>>(odd_ones(std::move(turned)));
  Made unmade;
  const threads::MutexLock bits_lock(bits_mutex_);
  std::uint64_t checksum = 0;
  {
    const threads::MutexLock lock(mutex_);
    checksum = newest_.checksum;
  }
  next.checksum = digest::turn_over(bits_, *flips, checksum);  // takes long: readers need mutex_
  const threads::MutexLock lock(mutex_);
  newest_ = next;
  flips_kept_ += flips->size();
  steps_.push_back(std::move(flips));
  drop_old_steps();
  unmade.swap(made_);
}

void Generations::drop_old_steps() {
  const std::size_t most = std::clamp(bits_.size() / sizeof(std::uint32_t), kMinFlips, kMaxFlips);
  while (steps_.size() > kMaxSteps || (flips_kept_ > most && !steps_.empty())) {
    flips_kept_ -= steps_.front()->size();
    steps_.pop_front();
  }
}

std::shared_ptr<const NativeForm> Generations::since(std::uint64_t epoch,
                                                     std::uint64_t since) const {
  digest::NativeHead newest;
  std::vector<Flips> steps;
  {
    const threads::MutexLock lock(mutex_);
    steps = steps_from(epoch, since);
    const bool held = epoch == newest_.epoch && since == newest_.generation;
    const std::uint64_t base = held || !steps.empty() ? since : 0;
    if (auto form = made(base)) return form;
    newest = newest_;
    if (base == 0) since = 0;
  }
  if (since == 0) return snapshot();
  auto delta = digest::encode_delta(newest, since, merge(steps));
  if (delta.size() >= digest::snapshot_bytes(newest)) return snapshot();
  return keep(newest, since, std::move(delta));
}

// The changes from generation `since` to the newest; empty if they are not known.
std::vector<Generations::Flips> Generations::steps_from(std::uint64_t epoch,
                                                        std::uint64_t since) const {
  if (epoch != newest_.epoch || since == 0 || since > newest_.generation) return {};
  const std::uint64_t count = newest_.generation - since;
  if (count > steps_.size()) return {};
  return {steps_.end() - static_cast<std::ptrdiff_t>(count), steps_.end()};
}

std::shared_ptr<const NativeForm> Generations::made(std::uint64_t base) const {
  const auto found = made_.find(base);
  return found == made_.end() ? nullptr : found->second;
}

std::shared_ptr<const NativeForm> Generations::keep(const digest::NativeHead& head,
                                                    std::uint64_t base,
                                                    std::vector<std::uint8_t> body) const {
  auto form = std::make_shared<const NativeForm>(
      NativeForm{std::move(body), native_etag(head.epoch, head.generation)});
  const threads::MutexLock lock(mutex_);
  if (same_generation(newest_, head) && made_.size() < kMaxMade) made_.emplace(base, form);
  return form;
}

// Made once, however many callers ask for it at the same time. Callers that need only a delta do
// not wait.
std::shared_ptr<const NativeForm> Generations::snapshot() const {
  const threads::MutexLock bits_lock(bits_mutex_);
  digest::NativeHead newest;
  {
    const threads::MutexLock lock(mutex_);
    if (auto form = made(0)) return form;
    newest = newest_;
  }
  return keep(newest, 0, digest::encode_snapshot(newest, bits_));
}

}  // namespace peers
