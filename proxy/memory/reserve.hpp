// What allocations get that would fail, and who is told of them.
#pragma once

#include <atomic>

#include "config/threads/alarm.hpp"

namespace proxy::memory {

// Address space that nothing uses until an allocation fails, as under a limit of the address space
// (ulimit -v). The reserve is then given up for that allocation, and whoever sleeps until failed()
// rings is to give up memory. A further allocation fails if that has not come about. At most one
// object exists. Costs no memory, and nothing while allocations succeed.
class Reserve {
 public:
  Reserve();
  ~Reserve();
  Reserve(const Reserve&) = delete;
  Reserve& operator=(const Reserve&) = delete;

  threads::Alarm& failed() { return failed_; }
  // Takes the reserve again if it was given up. Does nothing if it cannot be had. Any thread.
  void refill();

 private:
  static void on_failure();

  threads::Alarm failed_;
  std::atomic<void*> held_ = nullptr;
};

}  // namespace proxy::memory
