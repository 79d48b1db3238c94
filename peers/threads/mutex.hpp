// The standard library's locks with annotations, which libstdc++ lacks, and with a place in the
// order of locks. A free lock costs nothing more in released programs.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <stop_token>
#include <utility>

#include "peers/threads/annotations.hpp"
#include "peers/threads/lock_order.hpp"
#include "peers/threads/lock_waits.hpp"

namespace threads {

// A std::mutex, which a thread takes as take() says. Use it by MutexLock.
class CAPABILITY("mutex") Mutex {
 public:
  explicit Mutex(Place place = Place::alone) : order_(place) {}

  void lock() ACQUIRE() {
    order_.taking();
    take(mutex_);
  }
  // For a thread that takes several locks of one place. It always takes them in the same order.
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
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

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
  // Whether `done` is true in the end, else the time is over.
  template <class Rep, class Period, class Predicate>
  bool wait_for(MutexLock& lock, std::chrono::duration<Rep, Period> limit,
                Predicate done) NO_THREAD_SAFETY_ANALYSIS {
    return changed_.wait_for(lock.lock_, limit,
                             [&done]() NO_THREAD_SAFETY_ANALYSIS { return done(); });
  }
  template <class Clock, class Duration, class Predicate>
  bool wait_until(MutexLock& lock, std::chrono::time_point<Clock, Duration> until,
                  Predicate done) NO_THREAD_SAFETY_ANALYSIS {
    return changed_.wait_until(lock.lock_, until,
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
