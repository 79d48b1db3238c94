// Coroutines that run by themselves.
#pragma once

#include <utility>

#include "proxy/net/asio.hpp"

namespace proxy::net {

// The return type of such a coroutine. It should throw nothing: what it throws leaves
// io_context::run().
using Detached = Task<asio::detail::awaitable_thread_entry_point>;

// Starts the coroutine, which runs within this call until it first waits. Nobody learns how it
// ends, and io_context::run() does not wait for it. Call this on the executor's thread.
// asio::co_spawn() with asio::detached passes through the executor twice, in a coroutine of its
// own, and costs six times as many instructions.
inline void run_detached(const Executor& executor, Detached coroutine) {
  asio::detail::awaitable_thread<Executor>(std::move(coroutine), executor, {}, {}).launch();
}

}  // namespace proxy::net
