#include "proxy/upstream/origin_health.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <string_view>

namespace proxy::upstream {

std::string_view advice_on(const Failure& failure) {
  if (failure.cause == Errc::tls_wrong_name) {
    return "look for which names its certificate is, and by which name it is asked";
  }
  if (failure.cause == Errc::tls_expired) {
    return "look until when its certificate is valid, and at the clock of this machine";
  }
  switch (failure.what) {
    case Failure::What::no_address:
      return "look at its name, and at name resolution";
    case Failure::What::untrusted:
      return "look at its certificate, and at the authorities that this machine trusts";
    case Failure::What::cut:
    case Failure::What::malformed:
      return "look at its log";
    default:
      return "look whether it runs, and at the way to it";
  }
}

OriginHealth::OriginHealth() : known_(std::make_unique<std::atomic<std::uint32_t>[]>(kKnown)) {}

OriginHealth::MarkSlot OriginHealth::slot_of(const Endpoint& origin) const {
  const std::uint64_t hash = std::hash<Endpoint>{}(origin);
  // A mark is half a hash and no name: one in two billion origins is taken for another, which at
  // worst makes the log tell of a failure too early.
  // Never the mark of an empty place, which is 0.
  return {known_[hash % kKnown], static_cast<std::uint32_t>(hash >> 32U) | 1U};
}

void OriginHealth::answered(const Endpoint& origin) {
  const auto slot = slot_of(origin);
  // A store would take the cache line from other threads, so it is done only for a new mark.
  if (!slot.is_marked()) slot.at.store(slot.mark, std::memory_order_relaxed);
  if (!any_.load(std::memory_order_relaxed)) return;
  Trouble over{};
  {
    const threads::MutexLock lock(mutex_);
    const auto found = troubles_.find(origin);
    if (found == troubles_.end()) return;
    over = found->second;
    troubles_.erase(found);
    any_.store(!troubles_.empty(), std::memory_order_relaxed);
  }
  if (over.is_said()) {
    spdlog::info("origin {} answers again, after {} failed requests", name_of(origin),
                 over.failures);
  }
}

void OriginHealth::failed(const Endpoint& origin, const Failure& failure, Clock::time_point now) {
  counts_[static_cast<std::size_t>(failure.what)].fetch_add(1, std::memory_order_relaxed);
  // Any client can make up names that fail, so those count less than origins that have worked.
  const bool expected = origin.named_by == NamedBy::configured || slot_of(origin).is_marked();
  if (!expected && failure.what == Failure::What::no_address) return;
  bool says = false;
  {
    const threads::MutexLock lock(mutex_);
    std::erase_if(troubles_, [now](const auto& one) { return now - one.second.last > kForgotten; });
    auto found = troubles_.find(origin);
    if (found == troubles_.end()) {
      const Trouble first{failure, 0, now, now, expected};
      if (!make_room(first)) return;
      found = troubles_.emplace(origin, first).first;
      any_.store(true, std::memory_order_relaxed);
    }
    auto& trouble = found->second;
    const bool was_said = trouble.failures > 0 && trouble.is_said();
    trouble.why = failure;
    trouble.failures += 1;
    trouble.last = now;
    says = !was_said && trouble.is_said();
  }
  if (says) {
    spdlog::warn("origin {}: {}: {}", name_of(origin), text(failure), advice_on(failure));
  }
}

// An origin that the settings no longer name will never answer, and would be listed as failing
// until it is forgotten by time.
void OriginHealth::forget_mapped(const std::function<bool(const Endpoint&)>& is_mapped) {
  const threads::MutexLock lock(mutex_);
  std::erase_if(troubles_, [&](const auto& one) {
    return one.first.named_by == NamedBy::configured && !is_mapped(one.first);
  });
  any_.store(!troubles_.empty(), std::memory_order_relaxed);
}

// An unknown origin that does not fail yet gives way: of those, the one that failed last longest
// ago.
bool OriginHealth::make_room(const Trouble& newcomer) {
  const auto of_kind = std::count_if(troubles_.begin(), troubles_.end(), [&](const auto& one) {
    return one.second.expected == newcomer.expected;
  });
  if (static_cast<std::size_t>(of_kind) < (newcomer.expected ? kMost : kMostUnknown)) return true;
  if (newcomer.expected) return false;
  auto oldest = troubles_.end();
  for (auto each = troubles_.begin(); each != troubles_.end(); ++each) {
    if (each->second.is_said()) continue;
    if (oldest == troubles_.end() || each->second.last < oldest->second.last) oldest = each;
  }
  if (oldest == troubles_.end()) return false;
  troubles_.erase(oldest);
  return true;
}

void OriginHealth::rest(const Endpoint& origin, Clock::time_point until) {
  const threads::MutexLock lock(mutex_);
  if (!rests_.find(origin, until)) rests_.put(origin, {}, until);
  any_rests_.store(true, std::memory_order_relaxed);
}

bool OriginHealth::rests(const Endpoint& origin, Clock::time_point now) const {
  if (!any_rests_.load(std::memory_order_relaxed)) return false;
  const threads::MutexLock lock(mutex_);
  return rests_.find(origin, now) != nullptr;
}

std::vector<OriginHealth::Failing> OriginHealth::all_that(
    const std::function<bool(const Trouble&)>& wanted) const {
  std::vector<Failing> all;
  {
    const threads::MutexLock lock(mutex_);
    for (const auto& [origin, trouble] : troubles_) {
      if (!wanted(trouble)) continue;
      all.push_back({name_of(origin), trouble.why, trouble.failures, trouble.since, trouble.last,
                     origin.named_by == NamedBy::configured});
    }
  }
  // By name, so that a page that is loaded again shows each origin where it was.
  std::sort(all.begin(), all.end(),
            [](const Failing& a, const Failing& b) { return a.origin < b.origin; });
  return all;
}

}  // namespace proxy::upstream
