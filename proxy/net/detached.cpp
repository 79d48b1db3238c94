#include "proxy/net/detached.hpp"

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/require.hpp>
#include <utility>

namespace proxy::net {

namespace {

using Bottom = asio::detail::awaitable_thread_entry_point;

Task<Bottom> to_its_end(Executor executor, Task<void> coroutine) {
  // io_context::run() does not return before.
  const auto work = asio::require(executor, asio::execution::outstanding_work.tracked);
  try {
    co_await std::move(coroutine);
  } catch (...) {
  }
}

}  // namespace

void run_detached(const Executor& executor, Task<void> coroutine) {
  asio::detail::awaitable_thread<Executor>(to_its_end(executor, std::move(coroutine)), executor, {},
                                           {})
      .launch();
}

}  // namespace proxy::net
