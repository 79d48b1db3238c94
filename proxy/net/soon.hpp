// What a function results in that seldom has to wait.
#pragma once

#include <coroutine>
#include <optional>
#include <utility>

#include "proxy/net/task.hpp"

namespace proxy::net {

// A value, or a task that will have it. co_await takes it as it takes a task. A value costs no
// frame. The function does its work when it is called; a task begins when it is awaited.
template <class T>
class [[nodiscard]] Soon {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  Soon(T value) : value_(std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Soon(Task<T> task) : task_(std::move(task)) {}

  // Whether there is the value, so that co_await does not wait.
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
