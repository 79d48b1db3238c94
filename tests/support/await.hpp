// Waits for conditions that another thread or process makes true.
#pragma once

#include <chrono>
#include <thread>

#include "tests/support/socket.hpp"

namespace support {

// True as soon as the condition holds, false if it does not within the limit. Polls every 2 ms, as
// another process (its pages, its log) cannot wake this one.
template <class Condition>
bool await(Condition condition, std::chrono::milliseconds limit = kPatience) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// Waits until the number has not changed for `quiet`, and returns it.
template <class Number>
auto await_halt(Number number, std::chrono::milliseconds quiet = std::chrono::milliseconds(400)) {
  auto last = number();
  while (await([&] { return number() != last; }, quiet)) last = number();
  return last;
}

}  // namespace support
