#include "proxy/crowd/bandwidth.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace proxy::crowd {
namespace {

// No limit. Far from the end of the type, since shares and slices are added to it.
constexpr std::uint64_t kAny = std::uint64_t{1} << 62;
// A slice is what a limit allows in a hundredth of a second, within these bounds.
constexpr std::uint64_t kLongestSlice = 256 * 1024;

std::uint64_t slice_of(const BandwidthLimits& limits) {
  auto rate = kAny;
  for (const auto limit : {limits.all, limits.per_client}) {
    if (limit > 0) rate = std::min(rate, limit);
  }
  return std::clamp(rate / 100, Lanes::kLeast, kLongestSlice);
}

std::optional<TokenBucket> bucket_of(std::uint64_t rate, Lanes::Time now) {
  if (rate == 0) return std::nullopt;
  return TokenBucket(rate, now);
}

bool is_enough(std::uint64_t bytes, const Wish& wish) {
  return bytes >= std::min(wish.bytes, Lanes::kLeast);
}

}  // namespace

std::vector<std::uint64_t> fair_shares(std::uint64_t total, std::span<const std::uint64_t> most) {
  std::vector<std::size_t> order(most.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // By rising demand: whoever wants less than an equal part of the rest leaves what it does not
  // want to those after it. So one pass finds the max-min shares.
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return most[a] < most[b]; });
  std::vector<std::uint64_t> shares(most.size());
  auto wanting = most.size();
  for (const auto one : order) {
    shares[one] = std::min(most[one], total / wanting--);
    total -= shares[one];
  }
  return shares;
}

std::uint64_t Lane::take(std::uint64_t wanted) {
  // Without the lock: each write of each connection comes by here. Relaxed, as nothing else hangs
  // on this number.
  auto left = allowance.load(std::memory_order_relaxed);
  std::uint64_t taken = 0;
  do {
    taken = std::min(left, wanted);
    if (taken < std::min(wanted, Lanes::kLeast)) return 0;
  } while (!allowance.compare_exchange_weak(left, left - taken, std::memory_order_relaxed));
  return taken;
}

void Lanes::apply(const BandwidthLimits& limits, Time now) {
  if (limits.all != limits_.all) all_ = bucket_of(limits.all, now);
  for (auto& [client, lane] : lanes_) {
    // It was paid for under the old limits, and would let a slice pass the new ones.
    lane.allowance = 0;
    if (limits.per_client != limits_.per_client) lane.bucket = bucket_of(limits.per_client, now);
  }
  if (limits.per_client != limits_.per_client) left_.clear();
  limits_ = limits;
  slice_ = slice_of(limits);
  all_is_short_ = all_is_short_ && all_;
}

Lane& Lanes::enter(const config::Address& client, Time now) {
  auto& lane = lanes_[client];
  if (lane.users++ == 0) lane.bucket = bucket_for(client, now);
  return lane;
}

std::optional<TokenBucket> Lanes::bucket_for(const config::Address& client, Time now) {
  if (limits_.per_client == 0) return std::nullopt;
  const auto left = left_.extract(client);
  if (left) return left.mapped();
  // It may be one that left and is not remembered.
  if (!may_remember(now)) return TokenBucket(limits_.per_client, now);
  return TokenBucket::full(limits_.per_client, now);
}

void Lanes::leave(const config::Address& client, Time now) {
  const auto found = lanes_.find(client);
  auto& lane = found->second;
  if (--lane.users > 0) return;
  std::erase(short_, &lane);
  // Paid for, and not sent: others may send it.
  if (all_) all_->give_back(lane.allowance);
  if (lane.bucket) {
    lane.bucket->give_back(lane.allowance);
    if (!lane.bucket->is_full(now) && may_remember(now)) left_.emplace(client, *lane.bucket);
  }
  lanes_.erase(found);
}

bool Lanes::may_remember(Time now) {
  if (left_.size() >= kMostLeft) {
    std::erase_if(left_, [now](const auto& each) { return each.second.is_full(now); });
  }
  return left_.size() < kMostLeft;
}

std::uint64_t Lanes::free_for(Lane& lane, Time now) {
  const auto own = lane.bucket ? lane.bucket->bytes(now) : kAny;
  return std::min(own, all_ ? all_->bytes(now) : kAny);
}

void Lanes::pay(Lane& lane, std::uint64_t bytes) {
  if (all_) all_->take(bytes);
  if (lane.bucket) lane.bucket->take(bytes);
}

void Lanes::ask(Lane& lane, Wish& wish, Time now) {
  // Nobody overtakes, or small wishes would always find room, and a large one would starve.
  const bool others_first = !lane.wishes.empty() || all_is_short_;
  const auto free = others_first ? 0 : free_for(lane, now);
  if (is_enough(free, wish)) {
    // More than is wanted: the next writes then need no lock.
    const auto slice = std::min(free, std::max(wish.bytes, slice_));
    wish.granted = std::min(wish.bytes, slice);
    if (!limits_.any()) return;
    pay(lane, slice);
    lane.allowance += slice - wish.granted;
    return;
  }
  if (all_ && !is_enough(all_->bytes(now), wish)) all_is_short_ = true;
  wish.waits = true;
  lane.wishes.push_back(&wish);
  if (!std::exchange(lane.is_short, true)) short_.push_back(&lane);
}

void Lanes::step_out(Lane& lane, const Wish& wish) {
  std::erase(lane.wishes, &wish);
}

// A lane without wishes has enough.
void Lanes::put_back_unspent() {
  for (auto* lane : short_) {
    const auto unspent = lane->allowance.exchange(0);
    if (all_) all_->give_back(unspent);
    if (lane->bucket) lane->bucket->give_back(unspent);
    lane->is_short = !lane->wishes.empty();
  }
  std::erase_if(short_, [](const Lane* lane) { return !lane->is_short; });
}

// If there is too little for all, some lanes get a whole write each, and the others have their turn
// in the next rounds.
std::size_t Lanes::lanes_served(std::uint64_t free) const {
  return static_cast<std::size_t>(std::min<std::uint64_t>(free / kLeast, short_.size()));
}

std::vector<Wish*> Lanes::round(Time now) {
  std::vector<Wish*> granted;
  put_back_unspent();
  const auto free = all_ ? all_->bytes(now) : kAny;
  const auto served = lanes_served(free);
  std::vector<std::uint64_t> most;
  for (std::size_t i = 0; i < served; ++i) {
    auto& lane = *short_[i];
    const auto own = lane.bucket ? lane.bucket->bytes(now) : kAny;
    most.push_back(is_enough(own, *lane.wishes.front()) ? own : 0);
  }
  const auto shares = fair_shares(free, most);
  for (std::size_t i = 0; i < served; ++i) grant(*short_[i], shares[i], granted);
  // Those served go to the end of the line, also if they still want something.
  std::rotate(short_.begin(), short_.begin() + static_cast<std::ptrdiff_t>(served), short_.end());
  all_is_short_ = all_ && !short_.empty() && all_->bytes(now) < kLeast;
  return granted;
}

void Lanes::grant(Lane& lane, std::uint64_t share, std::vector<Wish*>& granted) {
  const auto each = std::max<std::uint64_t>(share / lane.wishes.size(), kLeast);
  auto left = share;
  while (!lane.wishes.empty() && is_enough(left, *lane.wishes.front())) {
    auto& wish = *lane.wishes.front();
    // What would be left is too little for another one.
    const auto part = left < each + kLeast ? left : each;
    wish.granted = std::min(wish.bytes, part);
    wish.waits = false;
    left -= wish.granted;
    lane.wishes.pop_front();
    granted.push_back(&wish);
  }
  if (!limits_.any()) return;  // `share` is any number of bytes
  pay(lane, share);
  lane.allowance += left;
}

void Bandwidth::follow(const BandwidthLimits& limits) {
  const threads::MutexLock lock(mutex_);
  lanes_.apply(limits, clock_.steady());
  is_limited_.store(limits.any(), std::memory_order_relaxed);
  if (limits.any() && !rounds_.joinable()) {
    rounds_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
}

void Bandwidth::run(const std::stop_token& stop) {
  constexpr std::chrono::hours kLong{1};
  threads::MutexLock lock(mutex_);
  while (!stop.stop_requested()) {
    // The usual state: nobody waits, and this thread costs nothing.
    changed_.wait_for(lock, stop, kLong,
                      [this]() REQUIRES(mutex_) { return lanes_.anyone_waits(); });
    // Wishes gather meanwhile. Otherwise whoever asks first would get all that is free.
    changed_.wait_for(lock, stop, kRound, [] { return false; });
    for (auto* wish : lanes_.round(clock_.steady())) {
      static_cast<BandwidthUse::Asked*>(wish)->wakeup->notify();
    }
  }
}

BandwidthUse::~BandwidthUse() {
  if (!lane_) return;
  const threads::MutexLock lock(bandwidth_.mutex_);
  if (asked_.waits) Lanes::step_out(*lane_, asked_);
  // It was granted something that nobody has taken: its client's other connections may.
  if (has_asked_ && !asked_.waits) lane_->allowance += asked_.granted;
  bandwidth_.lanes_.leave(client_, bandwidth_.clock_.steady());
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
  const auto now = bandwidth_.clock_.steady();
  auto& lanes = bandwidth_.lanes_;
  if (!lane_) lane_ = &lanes.enter(client_, now);
  if (!asked_.wakeup) asked_.wakeup.emplace(executor_);
  asked_.bytes = wanted;
  // The thread of the rounds sleeps for an hour while nobody waits.
  const bool rounds_run = lanes.anyone_waits();
  lanes.ask(*lane_, asked_, now);
  if (asked_.waits && !rounds_run) bandwidth_.changed_.notify_all();
}

net::Task<void> BandwidthUse::wait(std::optional<std::chrono::milliseconds> limit) {
  net::Wakeup* wakeup = nullptr;
  {
    const threads::MutexLock lock(bandwidth_.mutex_);
    wakeup = &*asked_.wakeup;
  }
  // Not under the lock, which no suspension may hold. The wake-up itself stays where it is.
  is_waiting_ = true;
  co_await wakeup->wait(limit);
  is_waiting_ = false;
  waited_ = bandwidth_.clock_.steady();
}

void BandwidthUse::interrupt() {
  const threads::MutexLock lock(bandwidth_.mutex_);
  if (asked_.wakeup) asked_.wakeup->notify();
}

void BandwidthUse::give_back(std::uint64_t bytes) {
  if (lane_) lane_->allowance += bytes;
}

}  // namespace proxy::crowd
