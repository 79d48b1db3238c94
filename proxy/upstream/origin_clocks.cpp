#include "proxy/upstream/origin_clocks.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <vector>

namespace proxy::upstream {
namespace {

using std::chrono::seconds;

bool is_wrong(seconds ahead) {
  return ahead > OriginClocks::kWrong || ahead < -OriginClocks::kWrong;
}

// To the log, when what the origins agree on has changed.
void say(const std::optional<seconds>& skew) {
  if (!skew) {
    spdlog::info("the clock of this machine agrees with the origins' again");
    return;
  }
  const bool behind = *skew > seconds(0);
  spdlog::warn(
      "the clock of this machine is {} s {} the clocks of several origins, so responses are kept "
      "too {}: set it (timedatectl, chrony)",
      std::abs(skew->count()), behind ? "behind" : "ahead of", behind ? "long" : "short");
}

}  // namespace

std::optional<seconds> agreed_skew(std::span<const seconds> ahead) {
  std::vector<seconds> sorted(ahead.begin(), ahead.end());
  if (sorted.size() < OriginClocks::kWitnesses) return std::nullopt;
  std::sort(sorted.begin(), sorted.end());
  const auto median = sorted[sorted.size() / 2];
  if (!is_wrong(median)) return std::nullopt;
  const auto agreeing =
      static_cast<std::size_t>(std::count_if(sorted.begin(), sorted.end(), [median](seconds one) {
        return one <= median + OriginClocks::kAgree && one >= median - OriginClocks::kAgree;
      }));
  const bool is_majority = 2 * agreeing > sorted.size();
  return agreeing >= OriginClocks::kWitnesses && is_majority ? std::optional(median) : std::nullopt;
}

void OriginClocks::note(std::string_view host, seconds ahead, Clock::time_point now) {
  if (!is_wrong(ahead) && !any_wrong_.load(std::memory_order_relaxed) && !is_due(now)) return;
  if (is_repeated(host, is_wrong(ahead), now)) return;
  std::optional<seconds> skew;
  {
    const threads::MutexLock lock(mutex_);
    remember(host, ahead, now);
    skew = skew_of_recent(now);
    if (skew.has_value() == said_) return;
    said_ = skew.has_value();
  }
  say(skew);
}

void OriginClocks::forget() {
  const threads::MutexLock lock(mutex_);
  hosts_.clear();
  for (auto& mark : marks_) mark.store(0, std::memory_order_relaxed);
  // So the next host is noted at once. If the origins had agreed against us, that ends the warning.
  any_wrong_.store(said_, std::memory_order_relaxed);
}

// Two threads may both find it due, which does no harm.
bool OriginClocks::is_due(Clock::time_point now) {
  const auto time = now.time_since_epoch();
  const Clock::duration last(sampled_.load(std::memory_order_relaxed));
  if (time - last < kSample) return false;
  sampled_.store(time.count(), std::memory_order_relaxed);
  return true;
}

// Two hosts may share a slot. Each then drops the other's mark and is noted more often, which does
// no harm.
bool OriginClocks::is_repeated(std::string_view host, bool wrong, Clock::time_point now) {
  const auto second = std::chrono::floor<seconds>(now.time_since_epoch()).count();
  const std::uint64_t hash = std::hash<std::string_view>{}(host);
  const auto mark = hash >> 32 << 32 | (static_cast<std::uint64_t>(second) & 0x7fff'ffff) << 1 |
                    (wrong ? 1U : 0U);
  auto& slot = marks_[hash % marks_.size()];
  if (slot.load(std::memory_order_relaxed) == mark) return true;
  slot.store(mark, std::memory_order_relaxed);
  return false;
}

void OriginClocks::remember(std::string_view host, seconds ahead, Clock::time_point now) {
  std::erase_if(hosts_, [now](const auto& one) { return now - one.second.at > kKept; });
  hosts_.insert_or_assign(std::string(host), Seen{ahead, now});
  if (hosts_.size() > kMost) {
    hosts_.erase(std::min_element(hosts_.begin(), hosts_.end(), [](const auto& a, const auto& b) {
      return a.second.at < b.second.at;
    }));
  }
  const bool any = std::any_of(hosts_.begin(), hosts_.end(),
                               [](const auto& one) { return is_wrong(one.second.ahead); });
  any_wrong_.store(any, std::memory_order_relaxed);
}

std::optional<seconds> OriginClocks::skew_of_recent(Clock::time_point now) const {
  std::vector<seconds> ahead;
  for (const auto& [host, seen] : hosts_) {
    if (now - seen.at <= kKept) ahead.push_back(seen.ahead);
  }
  return agreed_skew(ahead);
}

std::optional<seconds> OriginClocks::skew(Clock::time_point now) const {
  if (!any_wrong_.load(std::memory_order_relaxed)) return std::nullopt;
  const threads::MutexLock lock(mutex_);
  return skew_of_recent(now);
}

}  // namespace proxy::upstream
