// The slices of bodies, and what blocks are charged for.
#include "proxy/cache/body.hpp"

#include <gtest/gtest.h>

namespace proxy::cache {
namespace {

class SlicesOfABody : public ::testing::Test {
 protected:
  Slice slice(std::uint32_t size) { return {Block::make(budget_, 10), size}; }

  Budget budget_{1 << 20};
};

std::vector<std::uint32_t> sizes_of(const Slices& slices) {
  std::vector<std::uint32_t> sizes;
  for (const SliceView slice : slices) sizes.push_back(slice.size);
  return sizes;
}

TEST_F(SlicesOfABody, KeepTheirOrderHoweverManyThereAre) {
  Slices slices;
  std::vector<std::uint32_t> expected;
  EXPECT_TRUE(slices.empty());
  for (std::uint32_t size = 1; size <= 4; ++size) {
    slices.push_back(slice(size));
    expected.push_back(size);
    EXPECT_EQ(sizes_of(slices), expected);
    EXPECT_EQ(slices.size(), expected.size());
    EXPECT_EQ(slices.front().size, 1U);
    EXPECT_EQ(slices.back().size, size);
    EXPECT_EQ(slices[size - 1].size, size);
  }
}

TEST_F(SlicesOfABody, AreCopiedAndMovedWithTheirBlocks) {
  for (const std::size_t many : {0U, 1U, 3U}) {
    Slices slices;
    for (std::uint32_t i = 0; i < many; ++i) slices.push_back(slice(i));
    const Slices copy = slices;
    EXPECT_EQ(sizes_of(copy), sizes_of(slices));
    EXPECT_TRUE(many == 0 || copy.front().block == slices.front().block);
    const Slices moved = std::move(slices);
    EXPECT_EQ(sizes_of(moved), sizes_of(copy));
    EXPECT_TRUE(slices.empty());  // NOLINT(bugprone-use-after-move)
  }
}

TEST_F(SlicesOfABody, LetTheLastOneBeReplaced) {
  for (const std::uint32_t many : {1U, 3U}) {
    Slices slices;
    for (std::uint32_t i = 0; i < many; ++i) slices.push_back(slice(i));
    const auto other = slice(10);
    slices.replace_back(other);
    EXPECT_EQ(slices.size(), many);
    EXPECT_EQ(slices.back().block, other.block);
    EXPECT_EQ(slices.back().size, 10U);
  }
  EXPECT_EQ(budget_.used(), 0U) << "all blocks are gone";
}

TEST(Block, IsChargedForAsMuchAsTheAllocatorTakes) {
  Budget budget(1 << 20);
  const Block exact(budget, 1024);
  EXPECT_LT(exact.charged(), 1024U + 128);
  const Block odd(budget, 1025);
  EXPECT_EQ(odd.charged() - exact.charged(), 256U);
  EXPECT_EQ(budget.used(), exact.charged() + odd.charged());
}

// The size classes that jemalloc's manual lists.
TEST(HeapBytes, AreTheSizesOfTheAllocator) {
  for (const auto& [asked, taken] :
       std::vector<std::pair<std::uint64_t, std::uint64_t>>{{1, 16},
                                                            {16, 16},
                                                            {17, 32},
                                                            {113, 128},
                                                            {128, 128},
                                                            {129, 160},
                                                            {257, 320},
                                                            {512, 512},
                                                            {513, 640},
                                                            {1024, 1024},
                                                            {1025, 1280},
                                                            {14337, 16384},
                                                            {65536, 65536},
                                                            {65537, 81920}}) {
    EXPECT_EQ(heap_bytes(asked), taken) << asked;
  }
}

}  // namespace
}  // namespace proxy::cache
