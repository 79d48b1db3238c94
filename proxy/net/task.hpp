// The coroutines of the data path. A request is a stack of a dozen of them, so each is cheap: it
// takes its memory from FrameMemory, and a coroutine that never waits returns to its caller like a
// function.
#pragma once

#include <boost/asio/io_context.hpp>
#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "proxy/net/frames.hpp"

namespace proxy::net {

using Executor = boost::asio::io_context::executor_type;

// What the coroutines have in common of which each awaits the next. One of them runs or waits at a
// time, on the executor's thread.
struct Chain {
  Executor executor;
  std::coroutine_handle<> first;  // destroying it destroys the others, which its frame owns
};

// What the promise of each coroutine has. Only coroutines of a chain are resumed.
class Promise : public InFrameMemory {
 public:
  [[nodiscard]] Chain& chain() const { return *chain_; }
  void join(Chain& chain) { chain_ = &chain; }
  // Who is resumed at the end. Nobody: the caller has not been suspended.
  void return_to(std::coroutine_handle<> caller) { caller_ = caller; }

  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }
  [[nodiscard]] auto final_suspend() const noexcept {
    struct Return {
      std::coroutine_handle<> caller;
      [[nodiscard]] bool await_ready() const noexcept { return false; }
      [[nodiscard]] std::coroutine_handle<> await_suspend(std::coroutine_handle<>) const noexcept {
        return caller;
      }
      void await_resume() const noexcept {}
    };
    return Return{caller_ ? caller_ : std::noop_coroutine()};
  }
  void unhandled_exception() noexcept { thrown_ = std::current_exception(); }

 protected:
  void rethrow() {
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

 private:
  Chain* chain_ = nullptr;
  std::coroutine_handle<> caller_;
  std::exception_ptr thrown_;
};

template <class T>
class ResultPromise : public Promise {
 public:
  template <class U>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T take() {
    rethrow();
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class ResultPromise<void> : public Promise {
 public:
  void return_void() const noexcept {}
  void take() { rethrow(); }
};

// A coroutine that begins when it is awaited, once, by another coroutine or by spawn(). Its
// exception becomes its caller's. Destroying it destroys what it holds, wherever it waits.
template <class T>
class [[nodiscard]] Task {
 public:
  class promise_type : public ResultPromise<T> {
   public:
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
  };

  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~Task() {
    if (frame_) frame_.destroy();
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  // The task runs on the caller's stack until it ends or waits. So a caller that awaits any number
  // of tasks that do not wait needs no more stack than for one.
  template <class Caller>
  bool await_suspend(std::coroutine_handle<Caller> caller) {
    auto& promise = frame_.promise();
    promise.join(caller.promise().chain());
    frame_.resume();
    if (frame_.done()) return false;
    promise.return_to(caller);
    return true;
  }
  T await_resume() { return frame_.promise().take(); }

 private:
  explicit Task(std::coroutine_handle<promise_type> frame) : frame_(frame) {}

  std::coroutine_handle<promise_type> frame_;
};

// co_await ThisExecutor(): the executor of the coroutine, without a wait.
class ThisExecutor {
 public:
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Caller>
  bool await_suspend(std::coroutine_handle<Caller> caller) noexcept {
    chain_ = &caller.promise().chain();
    return false;
  }
  [[nodiscard]] Executor await_resume() const noexcept { return chain_->executor; }

 private:
  const Chain* chain_ = nullptr;
};

}  // namespace proxy::net
