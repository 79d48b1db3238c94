// The clients that watch the dashboard live.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "config/networks.hpp"
#include "peers/threads/mutex.hpp"
#include "proxy/net/wakeup.hpp"

namespace proxy {

// All watchers, on any thread. A watcher costs a place here and its connection. Outlives the
// watchers. Any thread.
class Watchers {
 public:
  static constexpr std::size_t kMost = 16;
  // One place is kept for admins, whose dashboards are bounded by kMost alone.
  static constexpr std::size_t kMostOfOthers = kMost - 1;
  static constexpr std::size_t kMostOfOneClient = 2;  // that is no admin; see counted_as()
  using News = std::shared_ptr<const std::string>;

  // One watcher. Belongs to one coroutine of the executor.
  class Watcher {
   public:
    Watcher(Watchers& all, const config::Address& from, bool is_admin, net::Executor executor);
    ~Watcher();
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    // Whether there is room for it. If not, it gets no news.
    [[nodiscard]] bool has_place() const { return has_place_; }
    // Waits for the next news. A watcher that is slow misses some. Null: the time is over, or
    // wake_all() was called.
    net::Task<News> next(std::chrono::milliseconds at_most);

   private:
    friend class Watchers;

    Watchers& all_;
    const config::Address from_;
    const bool is_admin_;
    Wakeup wakeup_;
    News news_;             // guarded by the mutex of all_
    const bool has_place_;  // last: once the watcher has it, it is woken
  };

  // Admins are told other news than the others.
  void tell(const News& to_admins, const News& to_others);
  // Ends all waits, as the proxy drains.
  void wake_all();
  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] bool any_admin() const;

 private:
  bool admit(Watcher& watcher);
  void release(const Watcher& watcher);
  News take_news(Watcher& watcher);

  mutable threads::Mutex mutex_;
  std::vector<Watcher*> watching_ GUARDED_BY(mutex_);
};

}  // namespace proxy
