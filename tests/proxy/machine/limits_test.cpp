#include "proxy/machine/limits.hpp"

#include <gtest/gtest.h>

#include "tests/support/temporary_directory.hpp"

namespace proxy::machine {
namespace {

using support::TemporaryDirectory;
using support::write_file;

TEST(CgroupLimit, IsANumberOrNone) {
  EXPECT_EQ(parse_cgroup_limit("157286400\n"), 157'286'400u);
  EXPECT_EQ(parse_cgroup_limit("0\n"), 0u);
  for (const std::string_view none :
       {"max\n", "9223372036854771712\n", "", "\n", "-1", "99999999999999999999999", "x"}) {
    EXPECT_EQ(parse_cgroup_limit(none), std::nullopt) << none;
  }
}

TEST(TotalMemory, IsReadFromItsOwnLine) {
  EXPECT_EQ(parse_total_memory("MemFree: 7 kB\nMemTotal:       2048 kB\nX: 1 kB\n"), 2048u * 1024);
  for (const std::string_view none :
       {"", "MemFree: 7 kB\n", "MemTotal: kB\n", "MemTotal:", "MemTotal: 99999999999999999 kB"}) {
    EXPECT_EQ(parse_total_memory(none), std::nullopt) << none;
  }
}

TEST(MemoryLimitFiles, GoUpFromTheGroupToTheRoot) {
  EXPECT_EQ(memory_limit_files("0::/system.slice/hearsay.service\n"),
            (std::vector<std::string>{"/sys/fs/cgroup/system.slice/hearsay.service/memory.max",
                                      "/sys/fs/cgroup/system.slice/memory.max",
                                      "/sys/fs/cgroup/memory.max"}));
  EXPECT_EQ(memory_limit_files("0::/\n"), std::vector<std::string>{"/sys/fs/cgroup/memory.max"});
  EXPECT_EQ(memory_limit_files("5:devices:/a\n4:cpu,memory:/b\n"),
            (std::vector<std::string>{"/sys/fs/cgroup/memory/b/memory.limit_in_bytes",
                                      "/sys/fs/cgroup/memory/memory.limit_in_bytes"}));
}

TEST(MemoryLimitFiles, AreBoundedWhateverTheTextHolds) {
  std::string hostile;
  for (int i = 0; i < 1'000; ++i)
    hostile += "0::/" + std::string(1'000, '/') + "a/b/c\n4:memory:/\n";
  EXPECT_LE(memory_limit_files(hostile).size(), 128u);
  EXPECT_TRUE(memory_limit_files(":::\n\n\xff:memoryx:/\n1:name=systemd:/\n").empty());
}

// A machine of 1 MiB, in whose files a test changes what it is about.
struct Machine {
  Machine() {
    write("/proc/meminfo", "MemTotal: 1024 kB\n");
    write("/proc/self/cgroup", "4:memory:/b/c\n0::/a\n");
  }
  void write(const std::string& path, std::string_view text) {
    const auto whole = directory.path().string() + path;
    std::filesystem::create_directories(std::filesystem::path(whole).parent_path());
    write_file(whole, text);
  }
  std::optional<MemoryLimit> limit() const { return memory_limit(directory.path().string()); }

  TemporaryDirectory directory;
};

TEST(MemoryLimit, IsTheMachinesMemoryWhereNoGroupIsLimited) {
  Machine machine;
  EXPECT_EQ(machine.limit(), (MemoryLimit{1 << 20, ""}));
  machine.write("/sys/fs/cgroup/a/memory.max", "max\n");
  machine.write("/sys/fs/cgroup/memory.max", "99999999\n");
  EXPECT_EQ(machine.limit(), (MemoryLimit{1 << 20, ""}));
}

TEST(MemoryLimit, IsTheTightestOfAllGroupsAround) {
  Machine machine;
  machine.write("/sys/fs/cgroup/a/memory.max", "9000\n");
  EXPECT_EQ(machine.limit(), (MemoryLimit{9000, "/sys/fs/cgroup/a/memory.max"}));
  machine.write("/sys/fs/cgroup/memory/b/memory.limit_in_bytes", "8000\n");
  EXPECT_EQ(machine.limit(), (MemoryLimit{8000, "/sys/fs/cgroup/memory/b/memory.limit_in_bytes"}));
}

// A container sees its own group as the root, and the path of another view of the tree.
TEST(MemoryLimit, OfAContainerIsThatOfTheRoot) {
  Machine machine;
  machine.write("/proc/self/cgroup", "0::/../../outer/path\n");
  machine.write("/sys/fs/cgroup/memory.max", "7000\n");
  EXPECT_EQ(machine.limit(), (MemoryLimit{7000, "/sys/fs/cgroup/memory.max"}));
}

TEST(MemoryLimit, IsUnknownWithoutProc) {
  const TemporaryDirectory empty;
  EXPECT_EQ(memory_limit(empty.path().string()), std::nullopt);
  EXPECT_GT(memory_limit().value().bytes, 1u << 20) << "of the machine of this test";
}

TEST(DescriptorLimit, IsOrdered) {
  const DescriptorLimit limit = descriptor_limit();
  EXPECT_GT(limit.now, 0u);
  EXPECT_LE(limit.now, limit.most);
}

}  // namespace
}  // namespace proxy::machine
