// Runs a coroutine to its end, as a test would call a function.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <chrono>
#include <exception>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <variant>

#include "proxy/net/asio.hpp"

namespace support {

using namespace std::chrono_literals;
using proxy::net::Task;

// The task's result or exception. What else runs on the io_context is left where it is when the
// task ends; a task that does not end within `guard` is an exception. T needs a default value or is
// void.
template <class T>
T run(boost::asio::io_context& io, Task<T> task, std::chrono::seconds guard = 20s) {
  bool done = false;
  std::exception_ptr thrown;
  std::conditional_t<std::is_void_v<T>, std::monostate, std::optional<T>> value;
  boost::asio::co_spawn(io, std::move(task), [&](std::exception_ptr exception, auto&&... result) {
    done = true;
    thrown = exception;
    if constexpr (!std::is_void_v<T>) (value.emplace(std::move(result)), ...);
    io.stop();
  });
  io.restart();
  io.run_for(guard);
  if (!done) throw std::runtime_error("the coroutine did not end in time");
  if (thrown) std::rethrow_exception(thrown);
  if constexpr (!std::is_void_v<T>) return std::move(*value);
}

// The same on an io_context of its own.
template <class T>
T run(Task<T> task) {
  boost::asio::io_context io(1);
  return run(io, std::move(task));
}

}  // namespace support
