// Wakes one thread from its sleep when something begins after a quiet time.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "digest/descriptor.hpp"

namespace threads {

// The sleeper looks for work. If it finds none, it calls set(), and sleeps until descriptor() is
// readable or until its next regular look. Work that begins after the look and before set() waits
// for the next regular look. While the alarm is not set, ring() costs one load and wakes nobody.
class Alarm {
 public:
  // Throws std::system_error if there is no descriptor.
  Alarm() : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (!descriptor_) throw std::system_error(errno, std::generic_category(), "eventfd");
  }

  // Wakes the sleeper, once, if the alarm is set. Any thread; never waits.
  void ring() {
    if (!set_.load(std::memory_order_relaxed) || !set_.exchange(false)) return;
    const std::uint64_t one = 1;
    // Fails only if the counter is full, and then the sleeper is awake.
    [[maybe_unused]] const auto written = ::write(descriptor_.number(), &one, sizeof one);
  }

  // The sleeper calls these: from now on it wants to be woken, or not.
  void set() { set_.store(true); }
  void unset() { set_.store(false); }
  // Whether the alarm has rung since the last call.
  bool rang() {
    std::uint64_t times = 0;
    return ::read(descriptor_.number(), &times, sizeof times) == sizeof times;
  }
  // Readable once the alarm has rung, until rang() is called.
  [[nodiscard]] int descriptor() const { return descriptor_.number(); }

 private:
  const digest::Descriptor descriptor_;
  std::atomic<bool> set_{false};
};

}  // namespace threads
