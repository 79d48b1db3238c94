#include "proxy/machine/successor.hpp"

#include <charconv>
#include <utility>

#include "proxy/machine/order.hpp"

namespace proxy::succession {

void Successor::adopt(int channel) {
  const threads::MutexLock lock(mutex_);
  channel_ = channel;
}

void Successor::disown() {
  std::map<std::uint64_t, Answered> untold;
  {
    const threads::MutexLock lock(mutex_);
    channel_ = -1;
    untold.swap(waiting_);
  }
  for (const auto& [number, answered] : untold) answered(false);
}

// The lock lets no answer arrive before the order waits for it.
bool Successor::tell(Kind kind, std::string_view what, Answered answered) {
  const threads::MutexLock lock(mutex_);
  const Order order{++told_, what};
  if (!send(channel_, kind, text_of(order))) return false;
  waiting_.emplace(order.number, std::move(answered));
  return true;
}

void Successor::note_forgotten(std::string_view number) {
  std::uint64_t answered = 0;
  std::from_chars(number.data(), number.data() + number.size(), answered);
  std::map<std::uint64_t, Answered>::node_type order;
  {
    const threads::MutexLock lock(mutex_);
    order = waiting_.extract(answered);
  }
  if (order) order.mapped()(true);
}

}  // namespace proxy::succession
