#include "proxy/cache/disk/read_pool.hpp"

#include <utility>

namespace proxy::cache::disk {

ReadPool::ReadPool(const machine::Clock& clock, std::size_t threads, std::size_t waiting)
    : clock_(clock), most_(waiting), running_(threads), begun_(std::make_unique<Begun[]>(threads)) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this, i] { run(begun_[i]); });
  }
}

ReadPool::~ReadPool() {
  {
    const threads::MutexLock lock(mutex_);
    stopping_ = true;
  }
  posted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

ReadPool::Posted ReadPool::post(Job job) {
  {
    const threads::MutexLock lock(mutex_);
    if (jobs_.size() >= most_) return Posted::too_many;
    jobs_.push_back(std::move(job));
  }
  posted_.notify_one();
  return Posted::yes;
}

bool ReadPool::settle(std::chrono::milliseconds limit) {
  threads::MutexLock lock(mutex_);
  return idle_.wait_for(lock, limit,
                        [this]() REQUIRES(mutex_) { return jobs_.empty() && working_ == 0; });
}

bool ReadPool::hangs(std::chrono::milliseconds limit) const {
  // Relaxed: to see a job begin or end a moment later does no harm.
  const auto now = clock_.steady().time_since_epoch();
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    const Duration begun(begun_[i].load(std::memory_order_relaxed));
    if (begun.count() != 0 && now - begun > limit) return true;
  }
  return false;
}

ReadPool::End ReadPool::end(std::chrono::milliseconds limit) {
  // A job that hangs notifies nobody, so its time is looked at again and again.
  constexpr std::chrono::milliseconds kLook{20};
  threads::MutexLock lock(mutex_);
  stopping_ = true;
  posted_.notify_all();
  while (!ended_.wait_for(lock, kLook, [this]() REQUIRES(mutex_) { return running_ == 0; })) {
    if (hangs(limit)) return End::hangs;
  }
  return End::joined;
}

void ReadPool::run(Begun& begun) {
  threads::MutexLock lock(mutex_);
  while (true) {
    posted_.wait(lock, [this]() REQUIRES(mutex_) { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) break;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    working_ += 1;
    // A job waits for the disk, which must not keep others from posting.
    lock.unlock();
    begun.store(clock_.steady().time_since_epoch().count(), std::memory_order_relaxed);
    job();
    begun.store(0, std::memory_order_relaxed);
    lock.lock();
    working_ -= 1;
    if (jobs_.empty() && working_ == 0) idle_.notify_all();
  }
  running_ -= 1;
  ended_.notify_all();
}

}  // namespace proxy::cache::disk
