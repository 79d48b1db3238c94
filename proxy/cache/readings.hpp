// Reads from disk under way, so that a second request for the same entry waits for the first read.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "digest/key.hpp"

namespace proxy::cache {

// Any thread.
class Readings {
 public:
  // The right to read an entry; ends with the object. Empty: somebody else is reading it.
  class Turn {
   public:
    Turn() = default;
    Turn(Readings& readings, const digest::Key& key) : readings_(&readings), key_(key) {}
    Turn(Turn&& other) noexcept
        : readings_(std::exchange(other.readings_, nullptr)), key_(other.key_) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
      if (readings_) readings_->end(key_);
    }
    explicit operator bool() const { return readings_ != nullptr; }

   private:
    Readings* readings_ = nullptr;
    digest::Key key_{};
  };

  // Starts a read. If somebody else is reading the entry, calls `over` when that read ends, on any
  // thread; `over` must be brief.
  [[nodiscard]] Turn begin(const digest::Key& key, std::function<void()> over) {
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] = waiting_.try_emplace(key);
    if (is_new) return Turn(*this, key);
    place->second.push_back(std::move(over));
    return {};
  }

 private:
  void end(const digest::Key& key) {
    std::vector<std::function<void()>> over;
    {
      const std::lock_guard lock(mutex_);
      over = std::move(waiting_.extract(key).mapped());
    }
    for (const auto& tell : over) tell();
  }

  std::mutex mutex_;
  std::unordered_map<digest::Key, std::vector<std::function<void()>>, digest::KeyHash> waiting_;
};

}  // namespace proxy::cache
