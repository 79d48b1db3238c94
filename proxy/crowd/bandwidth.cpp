#include "proxy/crowd/bandwidth.hpp"

#include <utility>

namespace proxy {

using Clock = std::chrono::steady_clock;

void Bandwidth::follow(const BandwidthLimits& limits) {
  const threads::MutexLock lock(mutex_);
  lanes_.follow(limits, Clock::now());
  is_limited_.store(limits.any(), std::memory_order_relaxed);
  if (limits.any() && !rounds_.joinable()) {
    rounds_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
}

void Bandwidth::run(const std::stop_token& stop) {
  constexpr std::chrono::hours kLong{1};
  threads::MutexLock lock(mutex_);
  while (!stop.stop_requested()) {
    const bool idle = !lanes_.anyone_waits();
    if (idle) {
      changed_.wait_for(lock, stop, kLong,
                        [this]() REQUIRES(mutex_) { return lanes_.anyone_waits(); });
    }
    changed_.wait_for(lock, stop, kRound, [] { return false; });
    for (auto* wish : lanes_.round(Clock::now())) {
      static_cast<BandwidthUse::Asked*>(wish)->wakeup->notify();
    }
  }
}

BandwidthUse::~BandwidthUse() {
  if (!lane_) return;
  const threads::MutexLock lock(bandwidth_.mutex_);
  if (asked_.waits) Lanes::step_out(*lane_, asked_);
  if (has_asked_ && !asked_.waits) lane_->allowance += asked_.granted;
  bandwidth_.lanes_.leave(client_, Clock::now());
}

std::uint64_t BandwidthUse::take(std::uint64_t wanted) {
  if (!has_asked_) {
    if (!bandwidth_.is_limited()) return wanted;
    const auto allowed = lane_ ? lane_->take(wanted) : 0;
    if (allowed > 0) return allowed;
  }
  const threads::MutexLock lock(bandwidth_.mutex_);
  if (!std::exchange(has_asked_, true)) ask(wanted);
  if (asked_.waits) return 0;
  has_asked_ = false;
  return asked_.granted;
}

void BandwidthUse::ask(std::uint64_t wanted) {
  const auto now = Clock::now();
  auto& lanes = bandwidth_.lanes_;
  if (!lane_) lane_ = &lanes.enter(client_, now);
  if (!asked_.wakeup) asked_.wakeup.emplace(executor_);
  asked_.bytes = wanted;
  const bool rounds_run = lanes.anyone_waits();
  lanes.ask(*lane_, asked_, now);
  if (asked_.waits && !rounds_run) bandwidth_.changed_.notify_all();
}

net::Task<void> BandwidthUse::wait(std::optional<std::chrono::milliseconds> limit) {
  Wakeup* wakeup = nullptr;
  {
    const threads::MutexLock lock(bandwidth_.mutex_);
    wakeup = &*asked_.wakeup;
  }
  is_waiting_ = true;
  co_await wakeup->wait(limit);
  is_waiting_ = false;
  waited_ = Clock::now();
}

void BandwidthUse::interrupt() {
  const threads::MutexLock lock(bandwidth_.mutex_);
  if (asked_.wakeup) asked_.wakeup->notify();
}

void BandwidthUse::give_back(std::uint64_t bytes) {
  if (lane_) lane_->allowance += bytes;
}

}  // namespace proxy
