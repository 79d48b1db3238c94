// Begins chains of coroutines.
#pragma once

#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

#include "proxy/net/resume.hpp"

namespace proxy::net {

// The first coroutine of a chain. The call begins the coroutine, which destroys itself at its end.
class [[nodiscard]] First {
 public:
  class promise_type : public InFrameMemory {
   public:
    explicit promise_type(Executor& executor, auto&... /*others*/)
        : chain_{executor, std::coroutine_handle<promise_type>::from_promise(*this)} {}
    [[nodiscard]] Chain& chain() { return chain_; }

    First get_return_object() { return First(chain_.first); }
    [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
    [[nodiscard]] std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }

   private:
    Chain chain_;
  };

  First(First&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  First& operator=(First&&) = delete;
  ~First() {
    if (frame_) frame_.destroy();
  }
  void operator()() { std::exchange(frame_, nullptr).resume(); }

 private:
  explicit First(std::coroutine_handle<> frame) : frame_(frame) {}
  std::coroutine_handle<> frame_;
};

// The task's frames are gone when the chain calls `done`.
template <class T, class Done>
First chain_of(Executor executor, Task<T> task, Done done) {
  const auto work = boost::asio::make_work_guard(executor);  // run() lasts as long as the chain
  std::exception_ptr thrown;
  std::conditional_t<std::is_void_v<T>, std::tuple<>, std::tuple<T>> result;
  {
    auto awaited = std::move(task);
    try {
      if constexpr (std::is_void_v<T>) {
        co_await awaited;
      } else {
        result = std::tuple<T>(co_await awaited);
      }
    } catch (...) {
      thrown = std::current_exception();
    }
  }
  const auto tell = [&](auto&&... value) { done(thrown, std::move(value)...); };
  std::apply(tell, std::move(result));
}

// Begins a chain with the task: within this call on the executor's thread, soon on another one. An
// io_context that ends destroys the task where it waits. At its end the chain calls `done` with the
// exception that the task has thrown, or null, and with the result if the task has one. `done`
// throws nothing.
template <class T, class Done>
void spawn(Executor executor, Task<T> task, Done done) {
  boost::asio::dispatch(executor, chain_of(executor, std::move(task), std::move(done)));
}
// The same without `done`. An exception is lost.
template <class T>
void spawn(Executor executor, Task<T> task) {
  spawn(executor, std::move(task), [](const auto&...) {});
}

// Runs the task on the thread of `other`. The caller waits meanwhile on its own thread, and gets
// the task's result or exception there.
template <class T>
Task<T> run_on(Executor other, Task<T> task) {
  using Ended = std::tuple<std::exception_ptr, T>;
  auto begin = [other, &task](Resume<Ended> resume) {
    auto work = boost::asio::make_work_guard(resume.get_executor());
    auto done = [resume = std::move(resume), work](std::exception_ptr thrown, T value) mutable {
      Ended ended(std::move(thrown), std::move(value));
      auto back = [resume = std::move(resume), ended = std::move(ended)]() mutable {
        resume(std::move(ended));
      };
      boost::asio::post(work.get_executor(), std::move(back));
    };
    spawn(other, std::move(task), std::move(done));
  };
  auto [thrown, value] = co_await wait_for<Ended>(begin);
  if (thrown) std::rethrow_exception(thrown);
  co_return std::move(value);
}

}  // namespace proxy::net
