#include "proxy/net/deadlines.hpp"

#include <algorithm>

namespace proxy::net {

void Watched::expires_after(Clock::duration after) {
  deadline_ = deadlines_.now() + Deadlines::kTick + after;  // now() is up to a tick old
  const auto tick = deadlines_.tick_of(deadline_);
  if (is_linked() && slot_tick_ <= tick) return;  // the wheel notices when it reaches the old slot
  unlink();
  deadlines_.place(*this);
}

Watched::Clock::time_point Watched::now() const {
  return deadlines_.now();
}

Deadlines::Deadlines(Executor executor, const machine::Clock* clock)
    : timer_(executor), clock_(clock), epoch_(read()), now_(epoch_) {}

void Deadlines::start() {
  arm(current_tick_ + 1);
}

void Deadlines::arm(std::uint64_t tick) {
  armed_for_ = tick;
  timer_.expires_at(epoch_ + static_cast<Clock::rep>(tick) * kTick);  // ends the wait before
  timer_.async_wait([this](error_code error) {
    if (error) return;
    this->tick();
    arm_for_next();
  });
}

void Deadlines::arm_for_next() {
  rests_ = asked_ < kFew;
  asked_ = 0;
  auto next = current_tick_ + 1;
  const auto latest = rests_ ? current_tick_ + kLongestRest : next;
  while (next < latest && slots_[next % kSlots].empty()) ++next;
  arm(next);
}

Deadlines::Clock::time_point Deadlines::read_at_rest() {
  now_ = read();
  if (asked_ < kFew) return now_;
  rests_ = false;
  if (const auto next = tick_of(now_); next < armed_for_) arm(next);
  return now_;
}

std::uint64_t Deadlines::tick_of(Clock::time_point time) const {
  return static_cast<std::uint64_t>((time - epoch_) / kTick) + 1;  // rounded up: never early
}

void Deadlines::place(Watched& watched) {
  // The slot of the current tick is not visited again for a whole turn of the wheel.
  const auto wanted = tick_of(watched.deadline_);
  // A deadline beyond the wheel's turn is looked at on the way, and then placed anew.
  watched.slot_tick_ = std::clamp(wanted, current_tick_ + 1, current_tick_ + kSlots - 1);
  slots_[watched.slot_tick_ % kSlots].push_back(watched);
  if (rests_ && watched.slot_tick_ < armed_for_) arm(watched.slot_tick_);
}

void Deadlines::tick() {
  now_ = read();
  const auto until = static_cast<std::uint64_t>((now_ - epoch_) / kTick);
  // A thread that was kept busy has missed ticks, and visits the slots of all of them.
  while (current_tick_ < until) {
    ++current_tick_;
    List due;
    due.swap(slots_[current_tick_ % kSlots]);
    visit(due);
  }
}

void Deadlines::visit(List& due) {
  while (!due.empty()) {
    Watched& watched = due.front();
    due.pop_front();  // first: on_expiry() may destroy this object, and any other in the list
    if (tick_of(watched.deadline_) > current_tick_) {
      place(watched);
    } else {
      watched.on_expiry();
    }
  }
}

}  // namespace proxy::net
