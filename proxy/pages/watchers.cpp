#include "proxy/pages/watchers.hpp"

#include <algorithm>
#include <utility>

#include "proxy/crowd/client_table.hpp"

namespace proxy {

Watchers::Watcher::Watcher(Watchers& all, const config::Address& from, bool is_admin,
                           net::Executor executor)
    : all_(all),
      from_(counted_as(from)),
      is_admin_(is_admin),
      wakeup_(executor),
      has_place_(all.admit(*this)) {}

Watchers::Watcher::~Watcher() {
  if (has_place_) all_.release(*this);
}

net::Task<Watchers::News> Watchers::Watcher::next(std::chrono::milliseconds at_most) {
  co_await wakeup_.wait(at_most);
  co_return all_.take_news(*this);
}

void Watchers::tell(const News& to_admins, const News& to_others) {
  const threads::MutexLock lock(mutex_);
  for (Watcher* watcher : watching_) {
    watcher->news_ = watcher->is_admin_ ? to_admins : to_others;
    watcher->wakeup_.notify();
  }
}

void Watchers::wake_all() {
  const threads::MutexLock lock(mutex_);
  for (Watcher* watcher : watching_) watcher->wakeup_.notify();
}

std::size_t Watchers::count() const {
  const threads::MutexLock lock(mutex_);
  return watching_.size();
}

bool Watchers::any_admin() const {
  const threads::MutexLock lock(mutex_);
  return std::any_of(watching_.begin(), watching_.end(),
                     [](const Watcher* watcher) { return watcher->is_admin_; });
}

bool Watchers::admit(Watcher& watcher) {
  const threads::MutexLock lock(mutex_);
  std::size_t others = 0, of_client = 0;
  for (const Watcher* one : watching_) {
    if (one->is_admin_) continue;
    ++others;
    if (one->from_ == watcher.from_) ++of_client;
  }
  const bool is_one_too_many = of_client >= kMostOfOneClient || others >= kMostOfOthers;
  if (watching_.size() >= kMost || (!watcher.is_admin_ && is_one_too_many)) return false;
  watching_.push_back(&watcher);
  return true;
}

void Watchers::release(const Watcher& watcher) {
  const threads::MutexLock lock(mutex_);
  std::erase(watching_, &watcher);
}

Watchers::News Watchers::take_news(Watcher& watcher) {
  const threads::MutexLock lock(mutex_);
  return std::exchange(watcher.news_, nullptr);
}

}  // namespace proxy
