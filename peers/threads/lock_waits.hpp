// How a thread takes a lock that another one holds.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace threads {

// How often a thread of this process has found a lock taken for so long that it went to sleep.
inline std::atomic<std::uint64_t>& lock_waits() {
  static std::atomic<std::uint64_t> waits{0};
  return waits;
}

// Tells the processor that a loop waits for another thread.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Locks the mutex. Most sections last about 100 ns, and to sleep and to be woken cost fifty times
// as much. So the thread first tries again for about a microsecond, for longer each time.
inline void take(std::mutex& mutex) {
  constexpr int kMostPauses = 64;
  if (mutex.try_lock()) return;
  for (int pauses = 1; pauses <= kMostPauses; pauses *= 2) {
    for (int i = 0; i < pauses; ++i) pause();
    if (mutex.try_lock()) return;
  }
  lock_waits().fetch_add(1, std::memory_order_relaxed);
  mutex.lock();
}

}  // namespace threads
