#include "proxy/blocks/transfer_slots.hpp"

#include <algorithm>
#include <cassert>

namespace proxy::blocks {

// One waiter. It is in its client's turns from its construction until it gets a slot or is
// destroyed.
class TransferSlots::Waiter {
 public:
  Waiter(TransferSlots& all, For kind, net::Executor executor, const crowd::ClientShare* reader)
      : woken(executor), what(kind), client(reader), all_(all) {
    const threads::MutexLock lock(all_.mutex_);
    number_ = all_.came_++;
    all_.change(client, [&](Reader& its) { its.turns[index(what)].emplace(number_, this); });
    all_.serve();
  }
  ~Waiter() { (void)end(); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  Slot end() {
    const threads::MutexLock lock(all_.mutex_);
    if (!slot_) give_up_turn();
    return std::move(slot_);
  }

  // Ends the wait.
  void receive(Slot slot) REQUIRES(all_.mutex_) {
    give_up_turn();
    slot_ = std::move(slot);
    woken.notify();
  }
  // For TransferSlots, which holds its mutex: tells clang that `held` guards the turn.
  void expect_guard([[maybe_unused]] const threads::Mutex& held) const REQUIRES(held)
      ASSERT_CAPABILITY(all_.mutex_) {
    assert(&held == &all_.mutex_);
  }

  net::Wakeup woken;
  const For what;
  const crowd::ClientShare* const client;

 private:
  void give_up_turn() REQUIRES(all_.mutex_) {
    all_.change(client, [&](Reader& its) { its.turns[index(what)].erase(number_); });
  }

  TransferSlots& all_;
  std::uint64_t number_ = 0;
  Slot slot_ GUARDED_BY(all_.mutex_);
};

TransferSlots::TransferSlots(std::size_t slots)
    : slots_(std::max<std::size_t>(1, slots)),
      spared_(std::max<std::size_t>(1, slots_ / 4)),
      share_(std::max<std::size_t>(1, slots_ - std::min(slots_, spared_))) {}

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
  const auto& own = all.readers_.find(client_)->second;
  const bool own_wait_too = !all.may_have(client_, own);
  const auto waiters_for = [&](const Line& line, const Turns& turns) {
    return line.waiters + (own_wait_too ? turns.size() : 0);
  };
  auto wanted = waiters_for(all.lines_[index(For::stored)], own.turns[index(For::stored)]);
  if (what_ == For::fetched || all.fetched_ < all.share_)
    wanted += waiters_for(all.lines_[index(For::fetched)], own.turns[index(For::fetched)]);
  if (!leaving_ && wanted <= all.leaving_) return false;
  if (!std::exchange(leaving_, true)) ++all.leaving_;
  return true;
}

bool TransferSlots::has_slot(For what) const {
  return taken_ < slots_ && (what == For::stored || fetched_ < share_);
}

bool TransferSlots::may_have(const crowd::ClientShare* client, const Reader& reader) const {
  return !client || reader.slots < share_;
}

// Whether the client may have a slot at once, before all who wait.
bool TransferSlots::may_take(For what, const crowd::ClientShare* client) const {
  if (!has_slot(what) || !lines_[index(what)].first.empty()) return false;
  const auto found = readers_.find(client);
  return found == readers_.end() || may_have(client, found->second);
}

// Puts the client's first waiter of each kind into its line, or takes it out.
void TransferSlots::move_in_lines(Move move, const crowd::ClientShare* client,
                                  const Reader& reader) {
  if (!may_have(client, reader)) return;
  for (std::size_t kind = 0; kind < lines_.size(); ++kind) {
    const auto& turns = reader.turns[kind];
    if (turns.empty()) continue;
    auto& line = lines_[kind];
    const auto& [number, waiter] = *turns.begin();
    const auto place = place_of(client, reader, number);
    if (move == Move::in) {
      line.first.emplace(place, waiter);
      line.waiters += turns.size();
    } else {
      line.first.erase(place);
      line.waiters -= turns.size();
    }
  }
}

// Changes what a client has, or waits for.
template <class Change>
void TransferSlots::change(const crowd::ClientShare* client, const Change& edit) {
  const auto found = readers_.try_emplace(client).first;
  auto& reader = found->second;
  // The reader leaves the lines and enters them again, since its slots decide its place there.
  move_in_lines(Move::out, client, reader);
  edit(reader);
  move_in_lines(Move::in, client, reader);
  const bool waits = !reader.turns[0].empty() || !reader.turns[1].empty();
  if (reader.slots == 0 && !waits) readers_.erase(found);
}

TransferSlots::Slot TransferSlots::give(For what, const crowd::ClientShare* client) {
  ++taken_;
  if (what == For::fetched) ++fetched_;
  change(client, [](Reader& its) { ++its.slots; });
  return {*this, what, client};
}

TransferSlots::Slot TransferSlots::try_take(For what, const crowd::ClientShare* client) {
  const threads::MutexLock lock(mutex_);
  return may_take(what, client) ? give(what, client) : Slot();
}

TransferSlots::Slot TransferSlots::spare(const crowd::ClientShare* client) {
  const threads::MutexLock lock(mutex_);
  // The first slot of all is never held back: a proxy of few slots would fetch nothing early.
  const bool plenty = taken_ == 0 || taken_ + spared_ < slots_;
  return plenty && may_take(For::fetched, client) ? give(For::fetched, client) : Slot();
}

net::Task<TransferSlots::Slot> TransferSlots::take(For what, net::Executor executor,
                                                   std::chrono::milliseconds at_most,
                                                   const crowd::ClientShare* client) {
  Waiter turn(*this, what, executor, client);
  co_await turn.woken.wait(at_most);
  co_return turn.end();
}

// The first waiter that may have a slot which is free; null if there is none.
TransferSlots::Waiter* TransferSlots::next() {
  std::pair<Place, Waiter*> first{{~std::size_t{0}, 0}, nullptr};
  for (const For what : {For::stored, For::fetched}) {
    const auto& line = lines_[index(what)].first;
    if (has_slot(what) && !line.empty() && line.begin()->first < first.first) first = *line.begin();
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
  change(slot.client_, [](Reader& its) { --its.slots; });
  serve();
}

}  // namespace proxy::blocks
