// What is being read back, so that who comes meanwhile waits instead of reading it once more.
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
  // Somebody's turn to read; ends with the object. Empty: it is somebody else's.
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

  // Where it is somebody else's, `over` is called when that ends, on any thread, and brief.
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
