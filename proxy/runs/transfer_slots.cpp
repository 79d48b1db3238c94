#include "proxy/runs/transfer_slots.hpp"

#include <algorithm>
#include <cassert>

namespace proxy {

// One waiter. It is in turns_ from its construction until it gets a slot or is destroyed.
class TransferSlots::Waiter {
 public:
  Waiter(TransferSlots& all, For what, net::Executor executor)
      : woken(executor), all_(all), what_(what) {
    const threads::MutexLock lock(all_.mutex_);
    number_ = all_.came_++;
    all_.turns(what_).emplace(number_, this);
    all_.serve();
  }
  ~Waiter() { (void)end(); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  Slot end() {
    const threads::MutexLock lock(all_.mutex_);
    all_.turns(what_).erase(number_);
    return std::move(slot_);
  }

  void receive(Slot slot) REQUIRES(all_.mutex_) {
    slot_ = std::move(slot);
    woken.notify();
  }
  // For TransferSlots, which holds its mutex: tells clang that `held` guards the turn.
  void expect_guard([[maybe_unused]] const threads::Mutex& held) const REQUIRES(held)
      ASSERT_CAPABILITY(all_.mutex_) {
    assert(&held == &all_.mutex_);
  }

  Wakeup woken;

 private:
  TransferSlots& all_;
  const For what_;
  std::uint64_t number_ = 0;
  Slot slot_ GUARDED_BY(all_.mutex_);
};

TransferSlots::TransferSlots(std::size_t slots)
    : slots_(std::max<std::size_t>(1, slots)),
      spared_(std::max<std::size_t>(1, slots_ / 4)),
      most_fetched_(std::max<std::size_t>(1, slots_ - std::min(slots_, spared_))) {}

TransferSlots::Slot& TransferSlots::Slot::operator=(Slot&& other) noexcept {
  if (this == &other) return *this;
  release();
  all_ = std::exchange(other.all_, nullptr);
  what_ = other.what_;
  leaving_ = std::exchange(other.leaving_, false);
  return *this;
}

void TransferSlots::Slot::release() {
  if (all_) all_->take_back(*this);
  all_ = nullptr;
  leaving_ = false;
}

bool TransferSlots::Slot::is_wanted() {
  if (!all_) return false;
  auto& all = *all_;
  const threads::MutexLock lock(all.mutex_);
  auto wanted = all.turns(For::stored).size();
  const bool for_all = what_ == For::fetched || all.fetched_ < all.most_fetched_;
  if (for_all) wanted += all.turns(For::fetched).size();
  if (!leaving_ && wanted <= all.leaving_) return false;
  if (!std::exchange(leaving_, true)) ++all.leaving_;
  return true;
}

bool TransferSlots::has_slot(For what) const {
  return taken_ < slots_ && (what == For::stored || fetched_ < most_fetched_);
}

TransferSlots::Slot TransferSlots::give(For what) {
  ++taken_;
  if (what == For::fetched) ++fetched_;
  return {*this, what};
}

TransferSlots::Slot TransferSlots::try_take(For what) {
  const threads::MutexLock lock(mutex_);
  if (!has_slot(what) || !turns(what).empty()) return {};
  return give(what);
}

TransferSlots::Slot TransferSlots::spare() {
  const threads::MutexLock lock(mutex_);
  const bool plenty = taken_ == 0 || taken_ + spared_ < slots_;
  if (!plenty || !has_slot(For::fetched) || !turns(For::fetched).empty()) return {};
  return give(For::fetched);
}

net::Task<TransferSlots::Slot> TransferSlots::take(For what, net::Executor executor,
                                                   std::chrono::milliseconds at_most) {
  Waiter turn(*this, what, executor);
  co_await turn.woken.wait(at_most);
  co_return turn.end();
}

// The kind of waiters whose first one is served next; null if nobody waits, or no slot is free.
TransferSlots::Turns* TransferSlots::next_turns() {
  Turns* next = nullptr;
  for (const For what : {For::stored, For::fetched}) {
    auto& these = turns(what);
    if (these.empty() || !has_slot(what)) continue;
    if (!next || these.begin()->first < next->begin()->first) next = &these;
  }
  return next;
}

void TransferSlots::serve() {
  for (auto* next = next_turns(); next; next = next_turns()) {
    auto& turn = *next->begin()->second;
    turn.expect_guard(mutex_);
    turn.receive(give(next == &turns(For::stored) ? For::stored : For::fetched));
    next->erase(next->begin());
  }
}

void TransferSlots::take_back(const Slot& slot) {
  const threads::MutexLock lock(mutex_);
  --taken_;
  if (slot.what_ == For::fetched) --fetched_;
  if (slot.leaving_) --leaving_;
  serve();
}

}  // namespace proxy
