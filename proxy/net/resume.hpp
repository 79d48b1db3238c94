// Waits of coroutines for asynchronous operations. wait_for() serves our own operations; the
// completion token use_task serves those of Asio.
#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/system/system_error.hpp>
#include <coroutine>
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
