#include "proxy/fill/room.hpp"

#include <algorithm>

namespace proxy {

// In the list from its beginning to its end, or until it has a place.
class Room::Turn {
 public:
  Turn(Room& room, For what, net::Executor executor) : woken(executor), room_(room), what_(what) {
    const std::lock_guard lock(room_.mutex_);
    number_ = room_.came_++;
    room_.turns(what_).emplace(number_, this);
    room_.serve();
  }
  ~Turn() { (void)end(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  Place end() {
    const std::lock_guard lock(room_.mutex_);
    room_.turns(what_).erase(number_);
    return std::move(place);
  }

  Place place;  // guarded
  Wakeup woken;

 private:
  Room& room_;
  const For what_;
  std::uint64_t number_ = 0;
};

Room::Room(std::size_t places)
    : places_(std::max<std::size_t>(1, places)),
      spared_(std::max<std::size_t>(1, places_ / 4)),
      most_fetched_(std::max<std::size_t>(1, places_ - std::min(places_, spared_))) {}

Room::Place& Room::Place::operator=(Place&& other) noexcept {
  if (this == &other) return *this;
  release();
  room_ = std::exchange(other.room_, nullptr);
  what_ = other.what_;
  going_ = std::exchange(other.going_, false);
  return *this;
}

void Room::Place::release() {
  if (room_) room_->take_back(*this);
  room_ = nullptr;
  going_ = false;
}

bool Room::Place::is_wanted() {
  if (!room_) return false;
  auto& room = *room_;
  const std::lock_guard lock(room.mutex_);
  auto wanted = room.turns(For::held).size();
  const bool for_all = what_ == For::fetched || room.fetched_ < room.most_fetched_;
  if (for_all) wanted += room.turns(For::fetched).size();
  if (!going_ && wanted <= room.going_) return false;
  if (!std::exchange(going_, true)) ++room.going_;
  return true;
}

bool Room::has_place(For what) const {
  return taken_ < places_ && (what == For::held || fetched_ < most_fetched_);
}

Room::Place Room::give(For what) {
  ++taken_;
  if (what == For::fetched) ++fetched_;
  return {*this, what};
}

Room::Place Room::try_take(For what) {
  const std::lock_guard lock(mutex_);
  if (!has_place(what) || !turns(what).empty()) return {};
  return give(what);
}

Room::Place Room::spare() {
  const std::lock_guard lock(mutex_);
  const bool plenty = taken_ == 0 || taken_ + spared_ < places_;
  if (!plenty || !has_place(For::fetched) || !turns(For::fetched).empty()) return {};
  return give(For::fetched);
}

net::Task<Room::Place> Room::take(For what, net::Executor executor,
                                  std::chrono::milliseconds at_most) {
  Turn turn(*this, what, executor);
  co_await turn.woken.wait(at_most);
  co_return turn.end();
}

// Those of whom the first is next; null: nobody is, or there is no place.
Room::Turns* Room::next_turns() {
  Turns* next = nullptr;
  for (const For what : {For::held, For::fetched}) {
    auto& these = turns(what);
    if (these.empty() || !has_place(what)) continue;
    if (!next || these.begin()->first < next->begin()->first) next = &these;
  }
  return next;
}

void Room::serve() {
  for (auto* next = next_turns(); next; next = next_turns()) {
    auto& turn = *next->begin()->second;
    turn.place = give(next == &turns(For::held) ? For::held : For::fetched);
    turn.woken.notify();
    next->erase(next->begin());
  }
}

void Room::take_back(const Place& place) {
  const std::lock_guard lock(mutex_);
  --taken_;
  if (place.what_ == For::fetched) --fetched_;
  if (place.going_) --going_;
  serve();
}

}  // namespace proxy
