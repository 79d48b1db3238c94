// The processes that take over from a running proxy, one after the other.
#pragma once

#include <sys/types.h>

#include <chrono>

#include "tests/support/child_process.hpp"

namespace support {

// All processes write to the files of the first one, which the test has started, and end with it.
class Successors {
 public:
  explicit Successors(ChildProcess& first) : first_(first), pid_(first.pid()) {}
  Successors(const Successors&) = delete;
  Successors& operator=(const Successors&) = delete;

  // The process that serves.
  pid_t pid() const { return pid_; }
  void ask_for_one() const;
  // So many have said that they have taken over.
  std::size_t count() const;
  // Waits until more than so many have taken over; false if none does within the limit.
  bool await_more_than(std::size_t before, std::chrono::milliseconds limit = kPatience);
  // Returns once one more serves; false if none does within the limit.
  bool succeed(std::chrono::milliseconds limit = kPatience);

 private:
  ChildProcess& first_;
  pid_t pid_;
};

}  // namespace support
