#include "proxy/machine/memory_need.hpp"

#include <gtest/gtest.h>

namespace proxy::machine {
namespace {

config::Settings with_memory(std::uint64_t mebibytes) {
  config::Settings settings;
  settings.cache.memory = config::mebibytes(mebibytes);
  settings.digest.peer_memory = config::mebibytes(8);
  settings.limits.heads = config::mebibytes(4);
  return settings;
}

// The program itself counts as 64 MiB.
TEST(MemoryNeed, IsTheSumOfWhatTheSettingsPromise) {
  EXPECT_EQ(memory_needed(with_memory(24)), 100ULL << 20);
  const MemoryLimit enough{100ULL << 20, {}};
  EXPECT_EQ(memory_shortage(with_memory(24), enough), std::nullopt);
  EXPECT_EQ(memory_shortage(with_memory(25), std::nullopt), std::nullopt);
  const auto shortage =
      memory_shortage(with_memory(25), MemoryLimit{100ULL << 20, "/g/memory.max"});
  ASSERT_TRUE(shortage);
  EXPECT_NE(shortage->find("may take 101 MiB, and there are 100 MiB (/g/memory.max)"),
            std::string::npos)
      << *shortage;
}

}  // namespace
}  // namespace proxy::machine
