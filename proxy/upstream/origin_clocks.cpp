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
  // The median, and not the mean: one clock that is wrong by years must not decide.
  const auto median = sorted[sorted.size() / 2];
  if (!is_wrong(median)) return std::nullopt;
  const auto agreeing =
      static_cast<std::size_t>(std::count_if(sorted.begin(), sorted.end(), [median](seconds one) {
        return one <= median + OriginClocks::kAgree && one >= median - OriginClocks::kAgree;
      }));
  // Several hosts of one provider may share a wrong clock.
  const bool is_majority = 2 * agreeing > sorted.size();
  return agreeing >= OriginClocks::kWitnesses && is_majority ? std::optional(median) : std::nullopt;
}

void OriginClocks::record(std::string_view host, seconds ahead, Clock::time_point now) {
  if (!is_wrong(ahead) && !any_wrong_.load(std::memory_order_relaxed) && !is_due(now)) return;
  // The log is written without the lock, since it may wait for the disk.
  std::optional<seconds> skew;
  {
    const threads::MutexLock lock(mutex_);
    if (!record(host, {ahead, now})) return;
    skew = skew_of_recent(now);
    if (skew.has_value() == said_) return;
    said_ = skew.has_value();
  }
  say(skew);
}

void OriginClocks::forget() {
  const threads::MutexLock lock(mutex_);
  hosts_.clear();
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

bool OriginClocks::record(std::string_view host, Seen seen) {
  const std::string name(host);
  const auto* const known = hosts_.find(name, seen.at);
  const auto second = [](Clock::time_point at) { return std::chrono::floor<seconds>(at); };
  if (known && second(known->at) == second(seen.at) &&
      is_wrong(known->ahead) == is_wrong(seen.ahead)) {
    return false;
  }
  hosts_.put(name, seen, seen.at + kKept);
  const auto all = hosts_.values(seen.at);
  const bool any =
      std::any_of(all.begin(), all.end(), [](const Seen& one) { return is_wrong(one.ahead); });
  any_wrong_.store(any, std::memory_order_relaxed);
  return true;
}

std::optional<seconds> OriginClocks::skew_of_recent(Clock::time_point now) const {
  std::vector<seconds> ahead;
  for (const auto& seen : hosts_.values(now)) ahead.push_back(seen.ahead);
  return agreed_skew(ahead);
}

std::optional<seconds> OriginClocks::skew(Clock::time_point now) const {
  if (!any_wrong_.load(std::memory_order_relaxed)) return std::nullopt;
  const threads::MutexLock lock(mutex_);
  return skew_of_recent(now);
}

}  // namespace proxy::upstream
