#include "proxy/cache/disk/catalog/segment_users.hpp"

#include <algorithm>
#include <utility>

namespace proxy::cache::disk {

bool SegmentUsers::add(const std::shared_ptr<SegmentUser>& user) {
  const threads::MutexLock lock(mutex_);
  if (closed_) return false;
  if (users_.size() >= most_) {
    std::erase_if(users_, [](const auto& one) { return one.expired(); });
    most_ = std::max(kFewest, 2 * users_.size());
  }
  users_.push_back(user);
  return true;
}

void SegmentUsers::save_all() {
  std::vector<std::weak_ptr<SegmentUser>> users;
  {
    const threads::MutexLock lock(mutex_);
    closed_ = true;
    users = std::exchange(users_, {});
  }
  for (const auto& one : users) {
    if (const auto user = one.lock()) user->save();
  }
}

}  // namespace proxy::cache::disk
