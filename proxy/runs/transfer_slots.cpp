#include "proxy/runs/transfer_slots.hpp"

#include <algorithm>
#include <cassert>

namespace proxy {

// One waiter. It is in turns_ from its construction until it gets a slot or is destroyed.
class TransferSlots::Waiter {
 public:
  Waiter(TransferSlots& all, For kind, net::Executor executor, const ClientShare* reader)
      : woken(executor), what(kind), client(reader), all_(all) {
    const threads::MutexLock lock(all_.mutex_);
    number_ = all_.came_++;
    all_.turns(what).emplace(number_, this);
    all_.serve();
  }
  ~Waiter() { (void)end(); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  Slot end() {
    const threads::MutexLock lock(all_.mutex_);
    all_.turns(what).erase(number_);
    return std::move(slot_);
  }

  // Ends the wait.
  void receive(Slot slot) REQUIRES(all_.mutex_) {
    all_.turns(what).erase(number_);
    slot_ = std::move(slot);
    woken.notify();
  }
  // For TransferSlots, which holds its mutex: tells clang that `held` guards the turn.
  void expect_guard([[maybe_unused]] const threads::Mutex& held) const REQUIRES(held)
      ASSERT_CAPABILITY(all_.mutex_) {
    assert(&held == &all_.mutex_);
  }

  Wakeup woken;
  const For what;
  const ClientShare* const client;

 private:
  TransferSlots& all_;
  std::uint64_t number_ = 0;
  Slot slot_ GUARDED_BY(all_.mutex_);
};

TransferSlots::TransferSlots(std::size_t slots)
    : slots_(std::max<std::size_t>(1, slots)),
      spared_(std::max<std::size_t>(1, slots_ / 4)),
      most_fetched_(std::max<std::size_t>(1, slots_ - std::min(slots_, spared_))),
      most_of_one_(most_fetched_) {}

TransferSlots::Slot& TransferSlots::Slot::operator=(Slot&& other) noexcept {
  if (this == &other) return *this;
  release();
  all_ = std::exchange(other.all_, nullptr);
  what_ = other.what_;
  client_ = other.client_;
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

bool TransferSlots::may_have(const ClientShare* client) const {
  const auto found = of_clients_.find(client);
  return !client || found == of_clients_.end() || found->second < most_of_one_;
}

TransferSlots::Slot TransferSlots::give(For what, const ClientShare* client) {
  ++taken_;
  if (what == For::fetched) ++fetched_;
  if (client) ++of_clients_[client];
  return {*this, what, client};
}

TransferSlots::Slot TransferSlots::try_take(For what, const ClientShare* client) {
  const threads::MutexLock lock(mutex_);
  if (!has_slot(what) || !turns(what).empty() || !may_have(client)) return {};
  return give(what, client);
}

TransferSlots::Slot TransferSlots::spare(const ClientShare* client) {
  const threads::MutexLock lock(mutex_);
  const bool plenty = taken_ == 0 || taken_ + spared_ < slots_;
  if (!plenty || !has_slot(For::fetched) || !turns(For::fetched).empty()) return {};
  return may_have(client) ? give(For::fetched, client) : Slot();
}

net::Task<TransferSlots::Slot> TransferSlots::take(For what, net::Executor executor,
                                                   std::chrono::milliseconds at_most,
                                                   const ClientShare* client) {
  Waiter turn(*this, what, executor, client);
  co_await turn.woken.wait(at_most);
  co_return turn.end();
}

// The first waiter that may have a slot which is free; null if there is none.
TransferSlots::Waiter* TransferSlots::next() {
  std::pair<std::uint64_t, Waiter*> first{~std::uint64_t{0}, nullptr};
  for (const For what : {For::stored, For::fetched}) {
    if (!has_slot(what)) continue;
    for (const auto& [number, waiter] : turns(what)) {
      if (number > first.first) break;
      if (!may_have(waiter->client)) continue;
      first = {number, waiter};
      break;
    }
  }
  return first.second;
}

void TransferSlots::serve() {
  for (auto* turn = next(); turn; turn = next()) {
    turn->expect_guard(mutex_);
    turn->receive(give(turn->what, turn->client));
  }
}

void TransferSlots::take_back(const Slot& slot) {
  const threads::MutexLock lock(mutex_);
  --taken_;
  if (slot.what_ == For::fetched) --fetched_;
  if (slot.leaving_) --leaving_;
  const auto of_client = of_clients_.find(slot.client_);
  if (of_client != of_clients_.end() && --of_client->second == 0) of_clients_.erase(of_client);
  serve();
}

}  // namespace proxy
