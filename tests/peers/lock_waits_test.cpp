#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "peers/threads/mutex.hpp"

namespace threads {
namespace {

TEST(LockWaits, CountAThreadThatSleepsForALock) {
  Mutex mutex;
  const auto before = lock_waits().load();
  std::thread other;
  {
    const MutexLock held(mutex);
    other = std::thread([&] { const MutexLock lock(mutex); });
    while (lock_waits() == before) std::this_thread::yield();
  }
  other.join();
  EXPECT_EQ(lock_waits(), before + 1);
}

TEST(LockWaits, CountNoThreadThatFindsTheLockFree) {
  Mutex mutex;
  const auto before = lock_waits().load();
  for (int i = 0; i < 1000; ++i) {
    MutexLock lock(mutex);
    lock.unlock();
    lock.lock();
  }
  EXPECT_EQ(lock_waits(), before);
}

}  // namespace
}  // namespace threads
