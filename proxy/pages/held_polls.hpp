// Polls of neighbours that wait until our digest changes.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "config/networks.hpp"
#include "peers/threads/mutex.hpp"
#include "proxy/net/wakeup.hpp"

namespace proxy {

// All polls that are held now, on any thread. A held poll costs a place here and its connection: no
// thread, and no timer but its own. Outlives the polls. Any thread.
class HeldPolls {
 public:
  // Polls beyond these are answered at once, as older Hearsays answer all. Several neighbours may
  // share an address.
  static constexpr std::size_t kMost = 1024;
  static constexpr std::size_t kMostOfOneAddress = 128;

  // One poll, for as long as it may be held. Belongs to one coroutine of the executor.
  class Held {
   public:
    Held(HeldPolls& polls, const config::Address& from, net::Executor executor);
    ~Held();
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    // Whether there is room for it. If not, there is nothing to wait for.
    [[nodiscard]] bool has_place() const { return has_place_; }
    // Waits until wake_all(), from the construction on, or until this time has passed.
    net::Task<void> wait(std::chrono::milliseconds at_most);

   private:
    friend class HeldPolls;

    HeldPolls& polls_;
    const config::Address from_;
    Wakeup wakeup_;
    const bool has_place_;  // last: once the poll has it, it is woken
  };

  // Call this when there is a new generation of the digest, and when the proxy drains.
  void wake_all();
  [[nodiscard]] std::size_t count() const;

 private:
  bool admit(Held& poll);
  void release(const Held& poll);

  mutable threads::Mutex mutex_;
  std::vector<Held*> held_ GUARDED_BY(mutex_);
};

}  // namespace proxy
