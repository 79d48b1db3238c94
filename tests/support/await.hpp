// Conditions that come true by another thread's or process's work, awaited up to a limit.
#pragma once

#include <chrono>
#include <thread>

#include "tests/support/socket.hpp"

namespace support {

// True as soon as the condition holds, false if it still does not after the limit. It is looked at
// every 2 ms: what another process does (a page, a log line) cannot wake us.
template <class Condition>
bool await(Condition condition, std::chrono::milliseconds limit = kPatience) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// Waits until the number has not changed for `quiet`, and returns it: for what must come to a halt.
template <class Number>
auto await_halt(Number number, std::chrono::milliseconds quiet = std::chrono::milliseconds(400)) {
  auto last = number();
  while (await([&] { return number() != last; }, quiet)) last = number();
  return last;
}

}  // namespace support
