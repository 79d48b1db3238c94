#include "proxy/pages/held_polls.hpp"

#include <algorithm>

namespace proxy {

HeldPolls::Held::Held(HeldPolls& polls, const config::Address& from, net::Executor executor)
    : polls_(polls), from_(from), wakeup_(executor), has_place_(polls.admit(*this)) {}

HeldPolls::Held::~Held() {
  if (has_place_) polls_.release(*this);
}

net::Task<void> HeldPolls::Held::wait(std::chrono::milliseconds at_most) {
  co_await wakeup_.wait(at_most);
}

void HeldPolls::wake_all() {
  const threads::MutexLock lock(mutex_);
  for (Held* poll : held_) poll->wakeup_.notify();
}

std::size_t HeldPolls::count() const {
  const threads::MutexLock lock(mutex_);
  return held_.size();
}

bool HeldPolls::admit(Held& poll) {
  const threads::MutexLock lock(mutex_);
  if (held_.size() >= kMost) return false;
  const auto of_it = std::count_if(held_.begin(), held_.end(), [&poll](const Held* other) {
    return other->from_ == poll.from_;
  });
  if (static_cast<std::size_t>(of_it) >= kMostOfOneAddress) return false;
  held_.push_back(&poll);
  return true;
}

void HeldPolls::release(const Held& poll) {
  const threads::MutexLock lock(mutex_);
  const auto place = std::find(held_.begin(), held_.end(), &poll);
  *place = held_.back();
  held_.pop_back();
}

}  // namespace proxy
