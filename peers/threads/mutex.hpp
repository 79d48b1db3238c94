// The standard library's locks with annotations, which libstdc++ lacks, and with a place in the
// order of locks. A free lock costs nothing more in released programs.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <utility>

// The words below tell clang which lock guards what (-Wthread-safety). Other compilers see nothing.
//
// What each one means: https://clang.llvm.org/docs/ThreadSafetyAnalysis.html. clang checks every
// source in the build with TSan; an access without the lock is an error there.
#ifdef __clang__
#define HEARSAY_THREAD_ATTRIBUTE(what) __attribute__((what))
#else
#define HEARSAY_THREAD_ATTRIBUTE(what)
#endif

// Marks a type whose objects are locks, or hold one for as long as they live.
#define CAPABILITY(name) HEARSAY_THREAD_ATTRIBUTE(capability(name))
#define SCOPED_CAPABILITY HEARSAY_THREAD_ATTRIBUTE(scoped_lockable)

// Marks a member that is read and written only under this lock.
#define GUARDED_BY(lock) HEARSAY_THREAD_ATTRIBUTE(guarded_by(lock))

// Mark a function whose caller holds the lock, or must not hold it.
#define REQUIRES(...) HEARSAY_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define EXCLUDES(...) HEARSAY_THREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))

// Mark a function that takes the lock, or releases it.
#define ACQUIRE(...) HEARSAY_THREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define ACQUIRE_SHARED(...) HEARSAY_THREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define RELEASE(...) HEARSAY_THREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define RELEASE_SHARED(...) HEARSAY_THREAD_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
#define RELEASE_GENERIC(...) HEARSAY_THREAD_ATTRIBUTE(release_generic_capability(__VA_ARGS__))

// Marks a function whose caller holds the lock by another name: after the call, clang takes the
// lock for held until the caller returns.
#define ASSERT_CAPABILITY(lock) HEARSAY_THREAD_ATTRIBUTE(assert_capability(lock))

// Marks a function that the analysis cannot follow; a comment beside it says why it is right.
#define NO_THREAD_SAFETY_ANALYSIS HEARSAY_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace threads {

// The order in which a thread takes locks. A thread takes a lock only while it holds none of the
// same place or a later one, so no two threads wait for each other. proxy/README.md says which lock
// has which place. Builds for debugging and for sanitizers check the order; a release does not.
enum class Place : std::uint8_t {
  first,
  second,
  third,
  alone,  // taken while the thread holds no lock, and only `last` is taken while this one is held
  last,   // taken whatever the thread holds, and no lock is taken while this one is held
};

#ifdef HEARSAY_CHECK_LOCK_ORDER

// The note of a lock in a list of its thread. Locks may be released in any order.
class CheckedOrder {
 public:
  explicit constexpr CheckedOrder(Place place) : place_(static_cast<std::size_t>(place)) {}
  // Call this before the wait for the lock, because a deadlock would not come back from the wait.
  void taking() const { take_above(place_ == static_cast<std::size_t>(Place::alone) ? 0 : place_); }
  // The same where other locks of the place may be held.
  void taking_beside_others() const { take_above(place_ + 1); }
  void released() const { --held()[place_]; }

 private:
  using Held = std::array<unsigned, 5>;  // how many, by their place
  static Held& held() {
    thread_local Held held{};
    return held;
  }
  // No lock of the place `least` or a later one may be held.
  void take_above(std::size_t least) const {
    for (std::size_t other = least; other < Held().size(); ++other) {
      if (held()[other] == 0) continue;
      std::fprintf(stderr,
                   "locks taken out of order: place %zu while a lock of place %zu is held\n",
                   place_, other);
      std::abort();
    }
    ++held()[place_];
  }

  std::size_t place_;
};
using Ordered = CheckedOrder;

#else

class Ordered {
 public:
  explicit constexpr Ordered(Place) {}
  void taking() const {}
  void taking_beside_others() const {}
  void released() const {}
};

#endif

// How often a thread of this process has waited for a lock so long that it went to sleep.
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

// Locks the mutex. Most locks are held for about 100 ns, and to sleep and to be woken cost fifty
// times as much. So the thread first tries again for about a microsecond, with a longer pause each
// time, and sleeps only then.
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

// A std::mutex that take() locks. Lock it through a MutexLock.
class CAPABILITY("mutex") Mutex {
 public:
  explicit Mutex(Place place = Place::alone) : order_(place) {}

  void lock() ACQUIRE() {
    order_.taking();
    take(mutex_);
  }
  // Takes one of several locks of one place. A thread always takes them in the same order.
  void lock_beside_others() ACQUIRE() {
    order_.taking_beside_others();
    take(mutex_);
  }
  void unlock() RELEASE() {
    mutex_.unlock();
    order_.released();
  }

 private:
  friend class MutexLock;

  std::mutex mutex_;
  [[no_unique_address]] Ordered order_;
};

// Holds a Mutex for as long as it lives, but between unlock() and lock().
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex)
      : order_((mutex.order_.taking(), mutex.order_)),
        lock_((take(mutex.mutex_), mutex.mutex_), std::adopt_lock) {}
  ~MutexLock() RELEASE() {
    if (lock_.owns_lock()) order_.released();
  }

  void unlock() RELEASE() {
    lock_.unlock();
    order_.released();
  }
  void lock() ACQUIRE() {
    order_.taking();
    take(*lock_.mutex());
    lock_ = {*lock_.release(), std::adopt_lock};
  }

 private:
  friend class Condition;
  friend class StoppableCondition;

  [[no_unique_address]] Ordered order_;
  std::unique_lock<std::mutex> lock_;
};

// A std::condition_variable for a MutexLock, which is held when a wait begins and when it ends.
// Annotate the predicate: `[this]() REQUIRES(mutex_) { return ...; }`. It is called with the lock
// held, which the analysis cannot see through a template.
class Condition {
 public:
  void notify_one() { changed_.notify_one(); }
  void notify_all() { changed_.notify_all(); }

  template <class Predicate>
  void wait(MutexLock& lock, Predicate done) NO_THREAD_SAFETY_ANALYSIS {
    changed_.wait(lock.lock_, [&done]() NO_THREAD_SAFETY_ANALYSIS { return done(); });
  }
  // Waits until `done` is true or the time is over. Returns whether `done` is true.
  template <class Rep, class Period, class Predicate>
  bool wait_for(MutexLock& lock, std::chrono::duration<Rep, Period> limit,
                Predicate done) NO_THREAD_SAFETY_ANALYSIS {
    return changed_.wait_for(lock.lock_, limit,
                             [&done]() NO_THREAD_SAFETY_ANALYSIS { return done(); });
  }

 private:
  std::condition_variable changed_;
};

// A Condition whose waits end at a stop request, too. It costs more: it has a mutex of its own.
class StoppableCondition {
 public:
  void notify_all() { changed_.notify_all(); }

  // Whether `done` is true in the end, else the time is over or a stop was requested.
  template <class Rep, class Period, class Predicate>
  bool wait_for(MutexLock& lock, std::stop_token stop, std::chrono::duration<Rep, Period> limit,
                Predicate done) NO_THREAD_SAFETY_ANALYSIS {
    return changed_.wait_for(lock.lock_, std::move(stop), limit,
                             [&done]() NO_THREAD_SAFETY_ANALYSIS { return done(); });
  }

 private:
  std::condition_variable_any changed_;
};

// A std::shared_mutex: many read at once, one writes alone.
class CAPABILITY("mutex") SharedMutex {
 public:
  explicit SharedMutex(Place place = Place::alone) : order_(place) {}

  void lock() ACQUIRE() {
    order_.taking();
    mutex_.lock();
  }
  void unlock() RELEASE() {
    mutex_.unlock();
    order_.released();
  }
  void lock_shared() ACQUIRE_SHARED() {
    order_.taking();
    mutex_.lock_shared();
  }
  void unlock_shared() RELEASE_SHARED() {
    mutex_.unlock_shared();
    order_.released();
  }

 private:
  std::shared_mutex mutex_;
  [[no_unique_address]] Ordered order_;
};

class SCOPED_CAPABILITY ReadLock {
 public:
  explicit ReadLock(SharedMutex& mutex) ACQUIRE_SHARED(mutex) : mutex_(mutex) {
    mutex_.lock_shared();
  }
  ~ReadLock() RELEASE_GENERIC() { mutex_.unlock_shared(); }
  ReadLock(const ReadLock&) = delete;
  ReadLock& operator=(const ReadLock&) = delete;

 private:
  SharedMutex& mutex_;
};

class SCOPED_CAPABILITY WriteLock {
 public:
  explicit WriteLock(SharedMutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~WriteLock() RELEASE() { mutex_.unlock(); }
  WriteLock(const WriteLock&) = delete;
  WriteLock& operator=(const WriteLock&) = delete;

 private:
  SharedMutex& mutex_;
};

}  // namespace threads
