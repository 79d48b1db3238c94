#include "proxy/upstream/origin_health.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace proxy::upstream {
namespace {

std::string name_of(const Endpoint& origin) {
  const bool is_ipv6 = origin.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? '[' + origin.host + ']' : origin.host;
  return (origin.tls ? "https://" : "http://") + host + ':' + std::to_string(origin.port);
}

}  // namespace

OriginHealth::OriginHealth() : known_(std::make_unique<std::atomic<std::uint32_t>[]>(kKnown)) {}

std::atomic<std::uint32_t>& OriginHealth::place_of(const Endpoint& origin,
                                                   std::uint32_t& mark) const {
  const std::uint64_t hash = std::hash<Endpoint>{}(origin);
  mark = static_cast<std::uint32_t>(hash >> 32U) | 1U;  // never the mark of an empty place
  return known_[hash % kKnown];
}

void OriginHealth::answered(const Endpoint& origin) {
  std::uint32_t mark = 0;
  auto& place = place_of(origin, mark);
  if (place.load(std::memory_order_relaxed) != mark) place.store(mark, std::memory_order_relaxed);
  if (!any_.load(std::memory_order_relaxed)) return;
  bool was_said = false;
  std::uint64_t failures = 0;
  {
    const threads::MutexLock lock(mutex_);
    const auto found = troubles_.find(origin);
    if (found == troubles_.end()) return;
    was_said = found->second.said;
    failures = found->second.failures;
    troubles_.erase(found);
    any_.store(!troubles_.empty(), std::memory_order_relaxed);
  }
  if (was_said) {
    spdlog::info("origin {} answers again, after {} failed requests", name_of(origin), failures);
  }
}

void OriginHealth::failed(const Endpoint& origin, const Failure& failure, Clock::time_point now) {
  counts_[static_cast<std::size_t>(failure.what)].fetch_add(1, std::memory_order_relaxed);
  std::uint32_t mark = 0;
  const bool is_known = place_of(origin, mark).load(std::memory_order_relaxed) == mark;
  if (!is_known && origin.trust != Trust::configured) return;
  bool says = false;
  {
    const threads::MutexLock lock(mutex_);
    forget_old(now);
    const auto found = troubles_.find(origin);
    if (found == troubles_.end()) {
      if (troubles_.size() >= kMost) return;
      says = may_say(now);
      troubles_.emplace(origin, Trouble{failure.what, 1, now, now, says});
      any_.store(true, std::memory_order_relaxed);
    } else {
      found->second.why = failure.what;
      found->second.failures += 1;
      found->second.last = now;
    }
  }
  if (says) spdlog::warn("origin {}: {}", name_of(origin), text(failure));
}

void OriginHealth::forget_old(Clock::time_point now) {
  std::erase_if(troubles_, [now](const auto& one) { return now - one.second.last > kForgotten; });
}

bool OriginHealth::may_say(Clock::time_point now) {
  if (now - minute_ >= std::chrono::minutes(1)) {
    minute_ = now;
    lines_ = 0;
  }
  return lines_++ < kMostLines;
}

std::vector<OriginHealth::Failing> OriginHealth::failing(Clock::time_point now) const {
  std::vector<Failing> all;
  {
    const threads::MutexLock lock(mutex_);
    for (const auto& [origin, trouble] : troubles_) {
      if (trouble.failures < kFailing || now - trouble.last > kForgotten) continue;
      all.push_back({name_of(origin), trouble.why, trouble.failures, trouble.since});
    }
  }
  std::sort(all.begin(), all.end(),
            [](const Failing& a, const Failing& b) { return a.origin < b.origin; });
  return all;
}

std::uint64_t OriginHealth::failures(Failure::What why) const {
  return counts_[static_cast<std::size_t>(why)].load(std::memory_order_relaxed);
}

}  // namespace proxy::upstream
