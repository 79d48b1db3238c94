// How chains of coroutines begin, and how they wait for asynchronous operations: wait_for() serves
// our own operations; the completion token use_task serves those of Asio.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <coroutine>
#include <exception>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "proxy/net/task.hpp"

namespace proxy::net {

// A Resume continues a coroutine that waits, once, with the results of the wait. It owns the
// coroutine's chain: the destructor of a Resume that was not called destroys the chain. Only the
// thread of the chain's executor calls or destroys it. A Resume is a completion handler of Asio.
template <class... Results>
class Resume {
 public:
  using executor_type = Executor;
  using Into = std::optional<std::tuple<Results...>>;

  template <class Caller>
  Resume(Into& into, std::coroutine_handle<Caller> caller)
      : into_(&into), caller_(caller), chain_(&caller.promise().chain()) {}
  Resume(Resume&& other) noexcept
      : into_(other.into_), caller_(other.caller_), chain_(std::exchange(other.chain_, nullptr)) {}
  Resume& operator=(Resume&&) = delete;
  ~Resume() {
    if (chain_) chain_->first.destroy();
  }

  void operator()(Results... results) {
    chain_ = nullptr;
    into_->emplace(std::move(results)...);
    caller_.resume();
  }
  [[nodiscard]] executor_type get_executor() const noexcept { return chain_->executor; }

 private:
  Into* into_;
  std::coroutine_handle<> caller_;
  Chain* chain_;
};

// A Wait begins an operation when it is awaited: it calls `begin` with a Resume<Results...>. The
// operation calls that Resume later, never within `begin`. The result of co_await is the result of
// the operation. An error_code that is the only result is thrown.
template <class Begin, class... Results>
class [[nodiscard]] Wait {
 public:
  explicit Wait(Begin begin) : begin_(std::move(begin)) {}
  Wait(const Wait&) = delete;  // once it is awaited, the Resume refers to it
  Wait& operator=(const Wait&) = delete;

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  template <class Caller>
  void await_suspend(std::coroutine_handle<Caller> caller) {
    std::move(begin_)(Resume<Results...>(results_, caller));
  }
  auto await_resume() {
    if constexpr (sizeof...(Results) == 0) {
      return;
    } else {
      using First = std::tuple_element_t<0, std::tuple<Results...>>;
      static_assert(sizeof...(Results) == 1, "await several results as a tuple: as_result");
      if constexpr (std::is_same_v<First, boost::system::error_code>) {
        if (std::get<0>(*results_)) throw boost::system::system_error(std::get<0>(*results_));
      } else {
        return std::move(std::get<0>(*results_));
      }
    }
  }

 private:
  Begin begin_;
  typename Resume<Results...>::Into results_;
};

template <class... Results, class Begin>
Wait<Begin, Results...> wait_for(Begin begin) {
  return Wait<Begin, Results...>(std::move(begin));
}

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
// Spawns the task without `done`. An exception is lost.
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

struct UseTask {};

}  // namespace proxy::net

// Asio begins an operation by this class if its completion token is use_task.
template <class... Results>
class boost::asio::async_result<proxy::net::UseTask, void(Results...)> {
 public:
  template <class Initiation, class... Args>
  static auto initiate(Initiation initiation, proxy::net::UseTask /*token*/, Args... args) {
    using proxy::net::Resume;
    auto begin = [initiation = std::move(initiation),
                  args = std::tuple<Args...>(std::move(args)...)](auto resume) mutable {
      const auto call = [&](Args&... each) {
        std::move(initiation)(std::move(resume), std::move(each)...);
      };
      std::apply(call, args);
    };
    return proxy::net::wait_for<std::decay_t<Results>...>(std::move(begin));
  }
};
