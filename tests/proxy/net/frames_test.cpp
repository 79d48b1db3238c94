#include "proxy/net/frames.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "proxy/net/asio.hpp"

namespace proxy::net {
namespace {

#if !defined(HEARSAY_ADDRESS_SANITIZER)

TEST(FrameMemory, TakesAgainWhatWasGivenBack) {
  for (const std::size_t size : {1U, 64U, 1020U, 1021U, 8192U}) {
    void* const first = FrameMemory::take(size);
    FrameMemory::give_back(first, size);
    void* const again = FrameMemory::take(size);
    EXPECT_EQ(again, first) << size;
    FrameMemory::give_back(again, size);
  }
}

TEST(FrameMemory, IsAlsoForObjects) {
  struct Object : InFrameMemory {
    std::array<char, 1000> bytes{};
  };
  auto first = std::make_unique<Object>();
  const void* const memory = first.get();
  first.reset();
  EXPECT_EQ(std::make_unique<Object>().get(), memory);
}

TEST(FrameMemory, GivesNoMemoryTwice) {
  void* const first = FrameMemory::take(100);
  void* const second = FrameMemory::take(100);
  EXPECT_NE(first, second);
  FrameMemory::give_back(first, 100);
  FrameMemory::give_back(second, 100);
}

TEST(FrameMemory, IsFreedByAnyThreadWhichKeepsUpToItsBound) {
  constexpr std::size_t kSize = 4096;
  std::vector<void*> taken;
  for (std::size_t bytes = 0; bytes < 2 * FrameMemory::kKept; bytes += kSize)
    taken.push_back(FrameMemory::take(kSize));
  std::jthread([&] {
    EXPECT_EQ(FrameMemory::kept(), 0U);
    for (void* const memory : taken) FrameMemory::give_back(memory, kSize);
    EXPECT_EQ(FrameMemory::kept(), FrameMemory::kKept);
  }).join();
}

#endif

Task<int> sum_to(int n) {
  if (n == 0) co_return 0;
  co_return n + co_await sum_to(n - 1);
}

Task<void> fails() {
  co_await sum_to(1);
  throw std::runtime_error("a bug");
}

TEST(Frame, AwaitsAndPassesOnValuesAndBugs) {
  asio::io_context io;
  int sum = 0;
  bool caught = false;
  const auto task = [&]() -> Task<void> {
    sum = co_await sum_to(100);
    try {
      co_await fails();
    } catch (const std::runtime_error&) {
      caught = true;
    }
  };
  asio::co_spawn(io, task, [](const std::exception_ptr&) {});
  io.run();
  EXPECT_EQ(sum, 5050);
  EXPECT_TRUE(caught);
}

Soon<int> twice(int n, bool at_once) {
  if (at_once) return 2 * n;
  return [](int of) -> Task<int> { co_return of + co_await sum_to(0) + of; }(n);
}

Soon<void> add_one(int& to, bool at_once) {
  if (!at_once) return [](int& later) -> Task<void> { co_return void(++later); }(to);
  ++to;
  return {};
}

TEST(Soon, IsAwaitedAsATaskWhetherTheValueIsHereOrNot) {
  EXPECT_TRUE(twice(1, true).is_here());
  EXPECT_FALSE(twice(1, false).is_here());
  asio::io_context io;
  int sum = 0;
  const auto task = [&]() -> Task<void> {
    for (const bool at_once : {true, false}) {
      sum += co_await twice(10, at_once);
      co_await add_one(sum, at_once);
      auto kept = twice(100, at_once);
      sum += co_await std::move(kept);
    }
  };
  asio::co_spawn(io, task, [](const std::exception_ptr&) {});
  io.run();
  EXPECT_EQ(sum, 442);
}

TEST(Soon, PassesOnBugs) {
  asio::io_context io;
  bool caught = false;
  const auto task = [&]() -> Task<void> {
    try {
      co_await Soon<void>(fails());
    } catch (const std::runtime_error&) {
      caught = true;
    }
  };
  asio::co_spawn(io, task, [](const std::exception_ptr&) {});
  io.run();
  EXPECT_TRUE(caught);
}

}  // namespace
}  // namespace proxy::net
