#include "peers/generations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace peers {
namespace {

// Neighbours poll at about the same pace, so that few bases are asked for.
constexpr std::size_t kMaxMade = 16;

// What differs after several steps is what differs after an odd number of them.
std::vector<std::uint32_t> merge(
    const std::vector<std::shared_ptr<const std::vector<std::uint32_t>>>& steps) {
  std::vector<std::uint32_t> all;
  for (const auto& step : steps) all.insert(all.end(), step->begin(), step->end());
  std::sort(all.begin(), all.end());
  std::vector<std::uint32_t> odd;
  for (auto first = all.begin(); first != all.end();) {
    const auto next = std::find_if(first, all.end(), [first](auto flip) { return flip != *first; });
    if ((next - first) % 2 == 1) odd.push_back(*first);
    first = next;
  }
  return odd;
}

// No base: a snapshot.
std::vector<std::uint8_t> message_to(
    const digest::NativeDigest& newest, std::uint64_t base,
    const std::vector<std::shared_ptr<const std::vector<std::uint32_t>>>& steps) {
  if (base == 0) return digest::encode_snapshot(newest);
  auto delta = digest::encode_delta(newest, base, merge(steps));
  const auto whole = digest::kNativeHeaderBytes + newest.filter.bytes().size();
  return delta.size() < whole ? delta : digest::encode_snapshot(newest);
}

}  // namespace

std::string native_etag(std::uint64_t epoch, std::uint64_t generation) {
  return fmt::format("\"{:016x}-{}\"", epoch, generation);
}

void Generations::close(digest::NativeDigest next) {
  const auto last = newest_;  // this thread alone writes it
  const bool goes_on = last && last->epoch == next.epoch;
  auto flips = std::make_shared<std::vector<std::uint32_t>>();
  if (goes_on) {
    *flips = digest::flips_between(last->filter, next.filter);
    next.checksum = digest::checksum_after(last->checksum, next.filter, *flips);
  } else {
    next.checksum = digest::checksum_of(next.filter.bytes());
  }
  auto digest = std::make_shared<const digest::NativeDigest>(std::move(next));
  std::deque<Flips> dropped;
  std::map<std::uint64_t, std::shared_ptr<const NativeForm>> unmade;
  const std::lock_guard lock(mutex_);
  newest_ = std::move(digest);
  unmade.swap(made_);
  if (!goes_on) {
    dropped.swap(steps_);
    flips_kept_ = 0;
    return;
  }
  flips_kept_ += flips->size();
  steps_.push_back(std::move(flips));
  drop_old_steps();
}

void Generations::drop_old_steps() {
  const std::size_t most = newest_->filter.bytes().size() / sizeof(std::uint32_t);
  while (steps_.size() > kMaxSteps || (flips_kept_ > most && !steps_.empty())) {
    flips_kept_ -= steps_.front()->size();
    steps_.pop_front();
  }
}

// Empty if there is no way.
std::vector<Generations::Flips> Generations::steps_from(std::uint64_t epoch,
                                                        std::uint64_t since) const {
  const digest::NativeDigest& newest = *newest_;
  if (epoch != newest.epoch || since == 0 || since > newest.generation) return {};
  const std::uint64_t count = newest.generation - since;
  if (count > steps_.size()) return {};
  return {steps_.end() - static_cast<std::ptrdiff_t>(count), steps_.end()};
}

std::shared_ptr<const NativeForm> Generations::since(std::uint64_t epoch,
                                                     std::uint64_t since) const {
  std::shared_ptr<const digest::NativeDigest> newest;
  std::vector<Flips> steps;
  std::uint64_t base = 0;
  {
    const std::lock_guard lock(mutex_);
    newest = newest_;
    steps = steps_from(epoch, since);
    const bool held = epoch == newest->epoch && since == newest->generation;
    base = held || !steps.empty() ? since : 0;
    if (const auto made = made_.find(base); made != made_.end()) return made->second;
  }
  auto form = std::make_shared<NativeForm>();
  form->body = message_to(*newest, base, steps);
  form->etag = native_etag(newest->epoch, newest->generation);
  const std::lock_guard lock(mutex_);
  if (newest_ == newest && made_.size() < kMaxMade) made_.emplace(base, form);
  return form;
}

}  // namespace peers
