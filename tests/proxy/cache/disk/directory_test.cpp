// Others remove files from the directory, or put foreign files into it.
#include "proxy/cache/disk/directory.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <functional>

#include "proxy/cache/disk/contents.hpp"
#include "scene.hpp"
#include "tests/support/await.hpp"

namespace proxy::cache::disk {
namespace {

using support::await;
using support::TemporaryDirectory;
using support::write_file;
using Path = std::filesystem::path;

void make_sparse(const Path& file, std::uint64_t bytes) {
  write_file(file, "");
  std::filesystem::resize_file(file, bytes);
}

struct Taken {
  const char* name;
  std::vector<std::string> files;
};
class TakenFromDirectory : public testing::TestWithParam<Taken> {};
INSTANTIATE_TEST_SUITE_P(Is, TakenFromDirectory,
                         testing::Values(Taken{"All", {"lock", "00000001.segment"}},
                                         Taken{"TheLock", {"lock"}},
                                         Taken{"TheSegment", {"00000001.segment"}}),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(TakenFromDirectory, IsNoticedAndWhatIsStoredThenLastsAndIsKeptFromOthers) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  ASSERT_TRUE(scene.append(response(url_number(1), "one")));
  for (const auto& file : GetParam().files) std::filesystem::remove(directory / file);
  ASSERT_TRUE(await([&] {
    return std::filesystem::exists(directory / "lock") &&
           (std::filesystem::exists(directory / "00000001.segment") ||
            std::filesystem::exists(directory / "00000002.segment"));
  }));
  ASSERT_TRUE(await([&] { return scene->state().working; }));
  EXPECT_EQ(Directory::open(directory.path()).error(), Error::in_use);
  const bool lost = GetParam().files.back() != "lock";
  EXPECT_EQ(scene.body(url_number(1)).has_value(), !lost);
  const auto at = scene.append(response(url_number(2), "two"));
  ASSERT_TRUE(at);
  EXPECT_EQ(at->segment, lost ? 2U : 1U) << "a number is not used again while we run";
  scene.stop();
  Scene again(directory.path());
  EXPECT_EQ(*again.body(url_number(2)), "two");
  EXPECT_EQ(again.body(url_number(1)).has_value(), !lost);
}

TEST(Directory, IsNotThereWithoutTheLockThatIsHeld) {
  const TemporaryDirectory directory;
  const auto held = Directory::open(directory.path());
  ASSERT_TRUE(held);
  EXPECT_TRUE(held->still_there());
  std::filesystem::remove(directory / "lock");
  EXPECT_FALSE(held->still_there());
  const auto other = Directory::open(directory.path());
  EXPECT_TRUE(other->still_there());
  EXPECT_FALSE(held->still_there()) << "another has it";
}

struct Put {
  const char* name;
  std::function<void(const TemporaryDirectory&)> put;
  std::size_t lost = 0;  // as the start reports
};
class PutIntoDirectory : public testing::TestWithParam<Put> {};
INSTANTIATE_TEST_SUITE_P(
    Is, PutIntoDirectory,
    testing::Values(
        Put{"AHugeFile", [](const auto& at) { make_sparse(at / "000000ff.segment", 100ULL << 30); },
            1},
        Put{"AFileLargerThanTheCache",
            [](const auto& at) { make_sparse(at / "000000ff.segment", 8 << 20); }, 1},
        Put{"SuchAFileInBetween",
            [](const auto& at) { make_sparse(at / "00000003.segment", 8 << 20); }, 1},
        Put{"RubbishWithTheLastNumber",
            [](const auto& at) { write_file(at / "0fffffff.segment", std::string(100'000, 'x')); },
            1},
        Put{"NothingWithTheLastNumber",
            [](const auto& at) { write_file(at / "0fffffff.segment", ""); }},
        Put{"ADirectoryWithTheLastNumber",
            [](const auto& at) { std::filesystem::create_directory(at / "0fffffff.segment"); }},
        Put{"ADirectoryWithTheNextNumbers",
            [](const auto& at) {
              std::filesystem::create_directories(at / "00000005.segment" / "its own");
              std::filesystem::create_symlink("nowhere", at / "00000006.segment");
            }}),
    [](const auto& tested) { return tested.param.name; });

// Writes four segments, and then removes number 3.
void write_some(const Path& path) {
  Alone alone(small_options(path));
  for (std::uint64_t i = 1; i <= 4; ++i) {
    EXPECT_TRUE(alone.log.append(response(url_number(i), body_text(url_number(i), 60'000))));
  }
  EXPECT_TRUE(alone.log.close());
  EXPECT_EQ(alone.index.find(key_for(url_number(4)))->at.segment, 4U);
  EXPECT_TRUE(std::filesystem::remove(path / "00000003.segment"));
}

TEST_P(PutIntoDirectory, CostsNothingOfOursAndIsNoReasonToRest) {
  const TemporaryDirectory directory;
  write_some(directory.path());
  GetParam().put(directory);
  for (std::uint64_t start = 0; start < 2; ++start) {
    Scene scene(directory.path());
    EXPECT_EQ(scene.loaded.damaged + scene.loaded.cut, start == 0 ? GetParam().lost : 0);
    for (const std::uint64_t i : {1U, 2U, 4U}) EXPECT_TRUE(scene.body(url_number(i))) << i;
    for (std::uint64_t i = 0; i < 2; ++i) {
      const auto url = url_number(10 * (start + 1) + i);
      EXPECT_TRUE(scene.append(response(url, body_text(url, 60'000)))) << url;
    }
    EXPECT_TRUE(scene.body(url_number(10)));
    EXPECT_TRUE(scene->state().working);
  }
}

TEST(Directory, WithASegmentThatWasMadeHugeKeepsTheOthers) {
  const TemporaryDirectory directory;
  write_some(directory.path());
  std::filesystem::resize_file(directory / "00000002.segment", 100ULL << 30);
  Scene scene(directory.path());
  EXPECT_EQ(scene.loaded.damaged, 1U);
  EXPECT_TRUE(scene.body(url_number(1)));
  EXPECT_FALSE(scene.body(url_number(2)));
  EXPECT_TRUE(scene.body(url_number(4)));
  EXPECT_FALSE(std::filesystem::exists(directory / "00000002.segment"));
}

// The segment that a crash has cut is our newest one, whatever files have higher numbers.
TEST(Directory, WithRubbishBehindTheNewestGoesOnInThat) {
  const TemporaryDirectory directory;
  {
    Alone alone(small_options(directory.path()));
    for (std::uint64_t i = 1; i <= 2; ++i) {
      ASSERT_TRUE(alone.log.append(response(url_number(i), "a body")));
    }
    ASSERT_TRUE(alone.log.flush());
  }
  const Path newest = directory / "00000001.segment";
  std::filesystem::resize_file(newest, std::filesystem::file_size(newest) - 20);
  write_file(directory / "00000009.segment", std::string(5000, 'x'));
  Scene scene(directory.path());
  EXPECT_EQ(scene.loaded.cut, 1U);
  EXPECT_EQ(scene.loaded.damaged, 1U);
  EXPECT_TRUE(scene.body(url_number(1)));
  EXPECT_EQ(scene.append(response(url_number(3), "three"))->segment, 1U);
}

struct NoLock {
  const char* name;
  std::function<void(const Path&)> make;
};
class ALock : public testing::TestWithParam<NoLock> {};
INSTANTIATE_TEST_SUITE_P(
    ThatIs, ALock,
    testing::Values(
        NoLock{"ADirectory", [](const Path& lock) { std::filesystem::create_directory(lock); }},
        NoLock{"ALink", [](const Path& lock) { std::filesystem::create_symlink("nowhere", lock); }},
        NoLock{"APipe", [](const Path& lock) { ASSERT_EQ(::mkfifo(lock.c_str(), 0600), 0); }}),
    [](const auto& tested) { return tested.param.name; });

TEST_P(ALock, IsNamedAsTheReasonUntilItIsRemoved) {
  const TemporaryDirectory directory;
  GetParam().make(directory / "lock");
  Contents contents;
  EXPECT_EQ(contents.open(directory.path()).error(), Error::no_lock);
  Disk disk(running_clock(), small_options(directory.path()), digest::unpredictable());
  EXPECT_EQ(disk.start().error(), Error::no_lock);
  EXPECT_EQ(disk.state().reason, Error::no_lock);
  EXPECT_NE(to_string(disk.state().reason).find("`lock` in the directory"), std::string::npos);
  std::filesystem::remove(directory / "lock");
  EXPECT_TRUE(await([&] { return disk.state().working; }));
}

}  // namespace
}  // namespace proxy::cache::disk
