// Those who still need bytes of a segment's file when it is reclaimed.
#pragma once

#include <memory>
#include <vector>

#include "peers/threads/mutex.hpp"

namespace proxy::cache::disk {

class SegmentUser {
 public:
  virtual ~SegmentUser() = default;
  // Reads what is still needed of the file, which is about to be emptied. Called once, on the
  // writer's thread, while all appends wait.
  virtual void save() = 0;
};

// Any thread.
class SegmentUsers {
 public:
  // The user counts until its last owner is gone. Returns false if save_all() was called: the file
  // must not be used.
  [[nodiscard]] bool add(const std::shared_ptr<SegmentUser>& user) EXCLUDES(mutex_);
  void save_all() EXCLUDES(mutex_);

 private:
  static constexpr std::size_t kFewest = 16;

  threads::Mutex mutex_;
  bool closed_ GUARDED_BY(mutex_) = false;
  // Some are gone. These are removed whenever there are `most_`.
  std::vector<std::weak_ptr<SegmentUser>> users_ GUARDED_BY(mutex_);
  std::size_t most_ GUARDED_BY(mutex_) = kFewest;
};

}  // namespace proxy::cache::disk
