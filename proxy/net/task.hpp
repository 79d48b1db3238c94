// The coroutines of the data path. A request is a stack of a dozen coroutines, so each of them is
// cheap. Its memory comes from FrameMemory. A coroutine that does not wait returns to its caller
// like a function.
#pragma once

#include <boost/asio/io_context.hpp>
#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include "proxy/net/frames.hpp"

namespace proxy::net {

using Executor = boost::asio::io_context::executor_type;

// The state that a chain of coroutines shares: each of them awaits the next. At any time one
// coroutine of the chain runs or waits. All of them run on the executor's thread.
struct Chain {
  Executor executor;
  std::coroutine_handle<> first;  // its frame owns those of the others
};

// The part of a task's promise that does not depend on the type of the result. A task joins a chain
// before it runs.
class Promise : public InFrameMemory {
 public:
  [[nodiscard]] Chain& chain() const { return *chain_; }
  void join(Chain& chain) { chain_ = &chain; }
  // The end of the task resumes the caller. Without this call, the caller goes on by itself,
  // because it was never suspended.
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

// A task begins when another coroutine awaits it, or when spawn() takes it. It is awaited once. The
// caller gets the result, or the exception that the task has thrown. The destructor of a task that
// waits destroys the task where it is, with all that it holds.
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
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (frame_) frame_.destroy();
  }

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  // The task runs on the caller's stack until it ends or waits. Tasks that do not wait therefore
  // take no more stack, however many of them the caller awaits.
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

// `co_await ThisExecutor()` results in the executor of the coroutine. It never waits.
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

// A Soon is a value, or a task whose result is the value. co_await takes both alike. A value costs
// no frame. The caller must await a Soon at once, unless the function says otherwise: it has looked
// at a state that may change.
template <class T>
class [[nodiscard]] Soon {
 public:
  using Value = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  Soon() = default;  // of void: it is done
  // NOLINTNEXTLINE(google-explicit-constructor)
  Soon(Value value) : value_(std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Soon(Task<T> task) : task_(std::move(task)) {}

  // Whether the value is here. If so, co_await does not wait.
  [[nodiscard]] bool is_here() const noexcept { return !task_; }
  [[nodiscard]] const Value& value() const { return value_; }  // if is_here()

  [[nodiscard]] bool await_ready() const noexcept { return is_here(); }
  template <class Caller>
  bool await_suspend(std::coroutine_handle<Caller> caller) {
    return task_->await_suspend(caller);
  }
  T await_resume() {
    if (task_) return task_->await_resume();
    if constexpr (!std::is_void_v<T>) return std::move(value_);
  }

 private:
  [[no_unique_address]] Value value_{};
  std::optional<Task<T>> task_;
};

}  // namespace proxy::net
