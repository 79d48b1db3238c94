// Coroutines that wait in line until something is free, or until something has happened.
#pragma once

#include <atomic>
#include <boost/core/noncopyable.hpp>
#include <boost/intrusive/list.hpp>
#include <cstddef>

#include "proxy/net/wakeup.hpp"

namespace proxy::net {

// The coroutines that wait for one event. Any thread may use it, whatever lock it holds. Costs one
// load while nobody waits.
class WaitList {
 public:
  // One coroutine that waits, until this object is destroyed. The list and the Wakeup, which also
  // others may notify, outlive it.
  class Waiting : public boost::intrusive::list_base_hook<>, boost::noncopyable {
   public:
    Waiting(WaitList& all, Wakeup& wakeup);
    ~Waiting();

    // How many coroutines waited when this one began to wait, itself included.
    [[nodiscard]] std::size_t place() const { return place_; }

   private:
    friend class WaitList;

    WaitList& all_;
    Wakeup& wakeup_;
    const std::size_t place_;
  };

  // Wakes the one that was woken longest ago. Not all at once: a crowd would wake for one place.
  void wake_one() EXCLUDES(mutex_);
  void wake_all() EXCLUDES(mutex_);

 private:
  std::atomic<std::size_t> count_ = 0;
  threads::Mutex mutex_{threads::Place::last};
  boost::intrusive::list<Waiting> line_ GUARDED_BY(mutex_);
};

}  // namespace proxy::net
