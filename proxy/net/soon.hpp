// The result of a function that seldom has to wait.
#pragma once

#include <coroutine>
#include <optional>
#include <utility>

#include "proxy/net/task.hpp"

namespace proxy::net {

// A Soon is a value, or a task whose result is the value. co_await takes both alike. A value costs
// no frame. The caller awaits a Soon at once: the function has looked at the state of the moment,
// and a task goes on from that state.
template <class T>
class [[nodiscard]] Soon {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  Soon(T value) : value_(std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Soon(Task<T> task) : task_(std::move(task)) {}

  // Whether the value is here. If so, co_await does not wait.
  [[nodiscard]] bool is_here() const noexcept { return !task_; }
  [[nodiscard]] const T& value() const { return value_; }  // if is_here()

  [[nodiscard]] bool await_ready() const noexcept { return is_here(); }
  template <class Caller>
  bool await_suspend(std::coroutine_handle<Caller> caller) {
    return task_->await_suspend(caller);
  }
  T await_resume() { return task_ ? task_->await_resume() : std::move(value_); }

 private:
  T value_{};
  std::optional<Task<T>> task_;
};

template <>
class [[nodiscard]] Soon<void> {
 public:
  Soon() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  Soon(Task<void> task) : task_(std::move(task)) {}

  [[nodiscard]] bool is_here() const noexcept { return !task_; }

  [[nodiscard]] bool await_ready() const noexcept { return is_here(); }
  template <class Caller>
  bool await_suspend(std::coroutine_handle<Caller> caller) {
    return task_->await_suspend(caller);
  }
  void await_resume() {
    if (task_) task_->await_resume();
  }

 private:
  std::optional<Task<void>> task_;
};

}  // namespace proxy::net
