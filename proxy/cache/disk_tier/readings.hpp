// Reads from disk under way, so that a second request for the same entry waits for the first read.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "digest/key.hpp"
#include "peers/threads/mutex.hpp"

namespace proxy::cache {

// Any thread.
class Readings {
 public:
  struct End {
    Readings* readings;
    void operator()(const digest::Key* key) const {
      readings->end(*key);
      delete key;
    }
  };
  // The right to read the entry of a key, for as long as this object exists. Null: another request
  // has the right.
  using ReadRight = std::unique_ptr<const digest::Key, End>;

  // Takes the right. If another request has it, returns null, and calls `over` when that
  // request's right ends. `over` must be brief, and may run on any thread.
  [[nodiscard]] ReadRight begin(const digest::Key& key, std::function<void()> over)
      EXCLUDES(mutex_) {
    const threads::MutexLock lock(mutex_);
    const auto [place, is_new] = waiting_.try_emplace(key);
    if (is_new) return ReadRight(new digest::Key(key), End{this});
    place->second.push_back(std::move(over));
    return ReadRight(nullptr, End{this});
  }

 private:
  void end(const digest::Key& key) EXCLUDES(mutex_) {
    std::vector<std::function<void()>> over;
    {
      const threads::MutexLock lock(mutex_);
      over = std::move(waiting_.extract(key).mapped());
    }
    for (const auto& tell : over) tell();
  }

  threads::Mutex mutex_;
  std::unordered_map<digest::Key, std::vector<std::function<void()>>, digest::KeyHash> waiting_
      GUARDED_BY(mutex_);
};

}  // namespace proxy::cache
