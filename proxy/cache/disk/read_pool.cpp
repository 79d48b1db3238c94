#include "proxy/cache/disk/read_pool.hpp"

#include <utility>

namespace proxy::cache::disk {

ReadPool::ReadPool(std::size_t threads, std::size_t waiting) : most_(waiting) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
}

ReadPool::~ReadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  posted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool ReadPool::post(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() >= most_) return false;
    jobs_.push_back(std::move(job));
  }
  posted_.notify_one();
  return true;
}

void ReadPool::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    posted_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
    lock.lock();
  }
}

}  // namespace proxy::cache::disk
