#include "proxy/net/frames.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

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

}  // namespace
}  // namespace proxy::net
