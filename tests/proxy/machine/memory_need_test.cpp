#include "proxy/machine/limits.hpp"

#include <gtest/gtest.h>

namespace proxy::machine {
namespace {

config::Settings with_memory(std::uint64_t mebibytes) {
  config::Settings settings;
  settings.cache.memory = config::mebibytes(mebibytes);
  settings.digest.peer_memory = config::mebibytes(8);
  settings.limits.heads = config::mebibytes(4);
  settings.peers.resize(1);
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

TEST(MemoryNeed, CountsTheMemoryForPeersOnlyWhereThereArePeers) {
  auto settings = with_memory(24);
  settings.peers.clear();
  EXPECT_EQ(memory_needed(settings), 92ULL << 20);
}

TEST(FitDefaults, FitsFrom96MebibytesOn) {
  for (const std::size_t peers : {0, 1, 20}) {
    for (std::uint64_t has = 96; has < 8192; has += 7) {
      config::Settings settings;
      settings.peers.resize(peers);
      const MemoryLimit limit{has << 20, {}};
      fit_defaults(settings, limit);
      EXPECT_EQ(memory_shortage(settings, limit), std::nullopt) << has;
      EXPECT_GE(settings.cache.memory, config::mebibytes(8)) << has;
    }
  }
}

TEST(FitDefaults, AreSharesOfWhatThereIs) {
  struct Row {
    std::uint64_t has;
    std::size_t peers;
    std::uint64_t memory, peer_memory, heads;
  };
  for (const Row& row : {Row{64, 0, 8, 8, 4}, Row{96, 0, 26, 12, 6}, Row{96, 2, 14, 12, 6},
                         Row{128, 2, 40, 16, 8}, Row{256, 0, 128, 32, 16}, Row{256, 2, 128, 32, 16},
                         Row{512, 2, 256, 64, 32}, Row{4096, 2, 256, 64, 32}}) {
    config::Settings settings;
    settings.peers.resize(row.peers);
    fit_defaults(settings, {row.has << 20, {}});
    EXPECT_EQ(settings.cache.memory, config::mebibytes(row.memory)) << row.has;
    EXPECT_EQ(settings.digest.peer_memory, config::mebibytes(row.peer_memory)) << row.has;
    EXPECT_EQ(settings.limits.heads, config::mebibytes(row.heads)) << row.has;
  }
}

TEST(FitDefaults, LeaveWhatIsSet) {
  config::Settings settings;
  settings.cache.memory_by_default = false;
  settings.digest.peer_memory_by_default = false;
  settings.limits.heads_by_default = false;
  const auto before = settings;
  fit_defaults(settings, {96ULL << 20, {}});
  EXPECT_EQ(settings, before);
}

}  // namespace
}  // namespace proxy::machine
