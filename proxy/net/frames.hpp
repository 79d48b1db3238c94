// The memory of coroutine frames. Each request is a stack of a dozen coroutines, so their memory is
// kept for reuse. Asio's own reuse ends at frames of 1020 bytes, and searches them one by one.
#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <coroutine>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

// Whether AddressSanitizer is in the build: gcc and clang say so by different names.
#if defined(__SANITIZE_ADDRESS__)
#define HEARSAY_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEARSAY_ADDRESS_SANITIZER
#endif
#endif

namespace proxy::net {

// Each thread keeps the memory that it frees, up to kKept bytes. Any thread may free what another
// one took. Builds with AddressSanitizer keep nothing, so that it sees each use after the end.
//
// The size of a frame is a constant, so taking and giving back kept memory is a few instructions.
class FrameMemory {
 public:
  static constexpr std::size_t kKept = std::size_t{1} << 20;
#if defined(HEARSAY_ADDRESS_SANITIZER)
  static constexpr bool kKeeps = false;
#else
  static constexpr bool kKeeps = true;
#endif

  static void* take(std::size_t size) {
    size = rounded(size);
    if (!kKeeps || size > kLargest) return ::operator new(size);
    Free*& list = lists_.of_size[size / kStep];
    if (!list) return ::operator new(size);
    lists_.room += size;
    return std::exchange(list, list->next);
  }
  static void give_back(void* memory, std::size_t size) noexcept {
    size = rounded(size);
    if (!kKeeps || size > lists_.room || size > kLargest) return give_back_slowly(memory, size);
    keep(memory, size);
  }
  // How many bytes this thread keeps.
  static std::size_t kept();

 private:
  static constexpr std::size_t kStep = 64;       // sizes are rounded up to a multiple
  static constexpr std::size_t kLargest = 8192;  // a larger frame is never kept

  struct Free {
    Free* next;
  };
  // The lists have no destructor, so they stay usable until their thread's end.
  struct Lists {
    std::array<Free*, kLargest / kStep + 1> of_size{};
    std::size_t room = 0;  // how many more bytes may be kept; zero until the first is given back
    bool begun = false;
  };
  struct AtThreadsEnd;

  static constexpr std::size_t rounded(std::size_t size) {
    return (size + kStep - 1) / kStep * kStep;
  }
  static void keep(void* memory, std::size_t size) noexcept {
    Free*& list = lists_.of_size[size / kStep];
    list = new (memory) Free{list};
    lists_.room -= size;
  }
  static void give_back_slowly(void* memory, std::size_t size) noexcept;

  static constinit thread_local Lists lists_;
};

// A base for classes of which each request makes an object or a few: their objects take the memory
// of frames.
struct InFrameMemory {
  static void* operator new(std::size_t size) { return FrameMemory::take(size); }
  static void operator delete(void* memory, std::size_t size) noexcept {
    FrameMemory::give_back(memory, size);
  }
};

// What a function results in that seldom has to wait: the value, or a task that will have it.
// co_await takes it as it takes a task, and must do so at once. A value costs no frame. The
// function does its work when it is called; a task begins when it is awaited.
template <class T>
class [[nodiscard]] Soon {
 public:
  using Task = boost::asio::awaitable<T, boost::asio::io_context::executor_type>;

  // NOLINTNEXTLINE(google-explicit-constructor)
  Soon(T value) : value_(std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Soon(Task task) : task_(std::move(task)) {}

  // Whether there is the value, so that co_await does not wait.
  [[nodiscard]] bool is_here() const { return !task_.valid(); }
  [[nodiscard]] T& value() { return value_; }   // if is_here()
  [[nodiscard]] Task& task() { return task_; }  // if not

 private:
  T value_{};
  Task task_;
};
template <>
class [[nodiscard]] Soon<void> {
 public:
  using Task = boost::asio::awaitable<void, boost::asio::io_context::executor_type>;

  Soon() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  Soon(Task task) : task_(std::move(task)) {}

  [[nodiscard]] bool is_here() const { return !task_.valid(); }
  [[nodiscard]] Task& task() { return task_; }

 private:
  Task task_;
};

// The promise of each coroutine whose executor is an io_context's: Asio's, but for its memory.
template <class T>
class Frame
    : public boost::asio::detail::awaitable_frame<T, boost::asio::io_context::executor_type> {
  using Executor = boost::asio::io_context::executor_type;
  using Asios = boost::asio::detail::awaitable_frame<T, Executor>;

  // Asio's awaitable, which would accept no frame but Asio's own.
  template <class U>
  class Awaited {
   public:
    explicit Awaited(boost::asio::awaitable<U, Executor> of) : of_(std::move(of)) {}
    [[nodiscard]] bool await_ready() const noexcept { return of_.await_ready(); }
    void await_suspend(std::coroutine_handle<Frame> by) {
      of_.await_suspend(std::coroutine_handle<Asios>::from_promise(by.promise()));
    }
    decltype(auto) await_resume() { return of_.await_resume(); }

   private:
    boost::asio::awaitable<U, Executor> of_;
  };

  // Awaits a task only if there is no value yet.
  template <class U>
  class AwaitedSoon {
   public:
    explicit AwaitedSoon(Soon<U> of) : of_(std::move(of)) {}
    [[nodiscard]] bool await_ready() const noexcept { return of_.is_here(); }
    void await_suspend(std::coroutine_handle<Frame> by) {
      of_.task().await_suspend(std::coroutine_handle<Asios>::from_promise(by.promise()));
    }
    U await_resume() {
      if constexpr (std::is_void_v<U>) {
        if (!of_.is_here()) of_.task().await_resume();
      } else {
        return of_.is_here() ? std::move(of_.value()) : of_.task().await_resume();
      }
    }

   private:
    Soon<U> of_;
  };

 public:
  static void* operator new(std::size_t size) { return FrameMemory::take(size); }
  static void operator delete(void* memory, std::size_t size) noexcept {
    FrameMemory::give_back(memory, size);
  }

  using Asios::await_transform;
  template <class U>
  auto await_transform(boost::asio::awaitable<U, Executor> of) const {
    return Awaited<U>(Asios::await_transform(std::move(of)));
  }
  template <class U>
  auto await_transform(Soon<U> of) const {
    return AwaitedSoon<U>(std::move(of));
  }
};

}  // namespace proxy::net

// More special than Asio's traits of its awaitable, hence preferred.
template <class T, class... Args>
struct std::coroutine_traits<boost::asio::awaitable<T, boost::asio::io_context::executor_type>,
                             Args...> {
  using promise_type = proxy::net::Frame<T>;
};
