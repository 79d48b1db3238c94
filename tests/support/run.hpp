// Runs a coroutine to its end, so that a test can call it like a function.
#pragma once

#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include "proxy/net/asio.hpp"

namespace support {

using namespace std::chrono_literals;
using proxy::net::Task;

// Other work on the io_context is suspended when the task ends. Throws if the task throws, or does
// not end within `guard`.
inline void run(boost::asio::io_context& io, Task<void> task, std::chrono::seconds guard = 20s) {
  bool done = false;
  std::exception_ptr thrown;
  proxy::net::spawn(io.get_executor(), std::move(task), [&](std::exception_ptr exception) {
    done = true;
    thrown = exception;
    io.stop();
  });
  io.restart();
  io.run_for(guard);
  if (!done) throw std::runtime_error("the coroutine did not end in time");
  if (thrown) std::rethrow_exception(thrown);
}

template <class T>
Task<void> keep(Task<T> task, std::optional<T>& result) {
  result.emplace(co_await std::move(task));
}

template <class T>
T run(boost::asio::io_context& io, Task<T> task, std::chrono::seconds guard = 20s) {
  std::optional<T> result;
  run(io, keep(std::move(task), result), guard);
  return std::move(*result);
}

template <class T>
Task<T> task_of(proxy::net::Soon<T> soon) {
  co_return co_await soon;
}

template <class T>
T run(boost::asio::io_context& io, proxy::net::Soon<T> soon, std::chrono::seconds guard = 20s) {
  return run(io, task_of(std::move(soon)), guard);
}

// The same on an io_context made for this task.
template <class T>
T run(Task<T> task) {
  boost::asio::io_context io(1);
  return run(io, std::move(task));
}

}  // namespace support
