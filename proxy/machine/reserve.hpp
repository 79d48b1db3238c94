// A reserve of address space for allocations that would fail.
#pragma once

#include <atomic>

#include "peers/threads/alarm.hpp"

namespace proxy::memory {

// Address space that nothing uses until an allocation fails, as under a limit of the address space
// (ulimit -v). The reserve is then given up for that allocation, and failed() rings: its waiter
// must give up memory. Until then further allocations may fail. At most one object exists. Costs no
// memory, and nothing while allocations succeed.
class Reserve {
 public:
  Reserve();
  ~Reserve();
  Reserve(const Reserve&) = delete;
  Reserve& operator=(const Reserve&) = delete;

  threads::Alarm& failed() { return failed_; }
  // Maps the reserve again if it was given up. Does nothing if that fails. Any thread.
  void refill();

 private:
  static void on_failure();

  threads::Alarm failed_;
  std::atomic<void*> held_ = nullptr;
};

}  // namespace proxy::memory
