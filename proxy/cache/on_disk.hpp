// The position of a stored response on disk.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "digest/key.hpp"

namespace proxy::cache {

// The store keeps an OnDisk beside the entry, which is immutable. The code that writes the response
// to the disk, or reads it back, records the position here. Any thread.
class OnDisk {
 public:
  // `asked`: when the response was asked for, if memory had it first.
  explicit OnDisk(std::chrono::steady_clock::time_point asked = {}) : asked_(asked) {}
  OnDisk(const OnDisk&) = delete;
  OnDisk& operator=(const OnDisk&) = delete;

  // `front`: the record that look-ups of the key find. `body`: the record that has the body, if it
  // is another one. As numbers (to_number() in disk/format/format.hpp); 0 until written.
  void set(const digest::Key& key, std::uint64_t front, std::uint64_t body) {
    offered_.store(true, std::memory_order_relaxed);
    key_ = key;
    body_.store(body, std::memory_order_relaxed);
    front_.store(front, std::memory_order_release);
  }
  std::uint64_t front() const { return front_.load(std::memory_order_acquire); }
  std::uint64_t body() const { return body_.load(std::memory_order_relaxed); }
  // Valid once front() is not 0.
  const digest::Key& key() const { return key_; }

  // Offers the response to the disk; returns whether it was offered before.
  bool offer() { return offered_.exchange(true, std::memory_order_relaxed); }
  // The disk has not taken it.
  void withdraw() { offered_.store(false, std::memory_order_relaxed); }
  std::chrono::steady_clock::time_point asked() const { return asked_; }

 private:
  const std::chrono::steady_clock::time_point asked_;
  digest::Key key_{};
  std::atomic<bool> offered_ = false;
  std::atomic<std::uint64_t> front_ = 0;
  std::atomic<std::uint64_t> body_ = 0;
};

}  // namespace proxy::cache
