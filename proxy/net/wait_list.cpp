#include "proxy/net/wait_list.hpp"

namespace proxy::net {

WaitList::Waiting::Waiting(WaitList& all, Wakeup& wakeup)
    : all_(all), wakeup_(wakeup), place_(++all.count_) {
  const threads::MutexLock lock(all.mutex_);
  all.line_.push_back(*this);
}

WaitList::Waiting::~Waiting() {
  {
    const threads::MutexLock lock(all_.mutex_);
    all_.line_.erase(all_.line_.iterator_to(*this));
  }
  --all_.count_;
}

void WaitList::wake_one() {
  if (count_ == 0) return;
  const threads::MutexLock lock(mutex_);
  if (line_.empty()) return;
  line_.front().wakeup_.notify();
  line_.splice(line_.end(), line_, line_.begin());
}

void WaitList::wake_all() {
  if (count_ == 0) return;
  const threads::MutexLock lock(mutex_);
  for (auto& one : line_) one.wakeup_.notify();
}

}  // namespace proxy::net
