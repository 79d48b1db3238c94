// The memory of the process: a reserve of address space, and the return of freed memory.
#pragma once

#include <atomic>

#include "peers/threads/alarm.hpp"

namespace proxy::machine::memory {

// Address space that nothing uses until an allocation fails, as under a limit of the address space
// (ulimit -v). The reserve is then given up for that allocation, and failed() rings: its waiter
// must give up memory. Until then further allocations may fail. At most one object exists. Costs no
// memory, and nothing while allocations succeed.
class Reserve {
 public:
  Reserve();
  ~Reserve();

  threads::Alarm& failed() { return failed_; }
  // Maps the reserve again if it was given up. Does nothing if that fails. Any thread.
  void refill();

 private:
  static void on_failure();

  threads::Alarm failed_;
  std::atomic<void*> held_ = nullptr;
};

// Returns the pages that have been free for longer than jemalloc's setting dirty_decay_ms. jemalloc
// does so by itself only while threads allocate. Takes some milliseconds after a peak, else next to
// nothing. Any thread. Does nothing in a program with another allocator.
void return_freed();
// Returns all free pages at once.
void return_all_freed();

}  // namespace proxy::machine::memory
