#include <filesystem>

#include "digest/crc32c.hpp"
#include "no_space.hpp"
#include "scene.hpp"
#include "tests/support/await.hpp"

namespace proxy::cache::disk {
namespace {

using support::await;
using support::read_file;
using support::TemporaryDirectory;
using support::write_file;

bool recovers(Scene& scene) {
  return await([&] { return scene->state().working; });
}

TEST(DiskFault, AFullDiskIsReportedAndWaitedOut) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  ASSERT_TRUE(scene.append(response(url_number(1), "before")));
  {
    const NoSpace full(100);  // so small that no attempt to write can succeed
    EXPECT_EQ(scene.append(response(url_number(2), body_text("x", 5000))).error(), Error::no_space);
    EXPECT_TRUE(await([&] { return !scene->state().working; }));  // soon after the failure
    EXPECT_EQ(scene->state().reason, Error::no_space);
    EXPECT_EQ(scene->append(response(url_number(3), "meanwhile")).error(), Error::resting);
    EXPECT_EQ(*scene.body(url_number(1)), "before");
    EXPECT_FALSE(scene.body(url_number(2)));
  }
  ASSERT_TRUE(recovers(scene));
  ASSERT_TRUE(scene.append(response(url_number(4), "after")));
  EXPECT_EQ(*scene.body(url_number(4)), "after");
  EXPECT_GE(scene->catalog().counters.failed_writes, 1U);
  EXPECT_EQ(scene->catalog().counters.refused_resting, 1U);
  scene.stop();
  Scene again(directory.path());
  EXPECT_EQ(*again.body(url_number(1)), "before");
  EXPECT_FALSE(again.body(url_number(2)));
  EXPECT_EQ(*again.body(url_number(4)), "after");
}

// The purge applies at once in memory, is reported as failed, and is written as soon as possible.
TEST(DiskFault, APurgeThatCannotBeWrittenIsOwed) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  for (const char* url : {"http://a.example/1", "http://a.example/2", "http://b.example/1"}) {
    ASSERT_TRUE(scene.append(response(url, url)));
  }
  const std::string url = "http://b.example/1";
  {
    const NoSpace full(100);
    EXPECT_FALSE(scene.append(response(url_number(2), body_text("x", 5000))));
    EXPECT_FALSE(scene.purge(key_for(url)));
    EXPECT_FALSE(scene.purge_prefix("http://a.example/"));
    EXPECT_FALSE(scene.body(url));
    EXPECT_FALSE(scene.body("http://a.example/1"));
  }
  ASSERT_TRUE(recovers(scene));
  ASSERT_TRUE(scene.append(response("http://a.example/2", "again")));
  EXPECT_EQ(*scene.body("http://a.example/2"), "again");
  scene.stop();
  Scene again(directory.path());
  EXPECT_FALSE(again.body(url));
  EXPECT_FALSE(again.body("http://a.example/1"));
  EXPECT_EQ(*again.body("http://a.example/2"), "again");
}

TEST(DiskFault, RecordsQueuedAtTheFailureAreCounted) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  ASSERT_TRUE(scene.append(response(url_number(1), body_text("x", 10'000))));
  Halt halt;
  ASSERT_TRUE(scene->append(halt.at(response(url_number(2), "two"))));
  halt.await();
  const NoSpace full(100);
  ASSERT_TRUE(scene->append(response(url_number(3), body_text("x", 60'000))));  // a new segment's
  ASSERT_TRUE(scene->append(response(url_number(4), "four")));
  ASSERT_TRUE(scene->append(response(url_number(5), "five")));
  halt.release();
  EXPECT_TRUE(await([&] { return scene->catalog().counters.failed_writes == 3; }))
      << scene->catalog().counters.failed_writes;
}

TEST(DiskFault, AVanishedDirectoryIsCreatedAgain) {
  const TemporaryDirectory directory;
  Scene scene(directory / "cache");
  ASSERT_TRUE(scene.append(response(url_number(1), "one")));
  std::filesystem::remove_all(directory / "cache");
  ASSERT_TRUE(await([&] { return std::filesystem::exists(directory / "cache" / "lock"); }));
  ASSERT_TRUE(recovers(scene));
  EXPECT_FALSE(scene.body(url_number(1)));
  ASSERT_TRUE(scene.append(response(url_number(2), "two")));
  EXPECT_EQ(*scene.body(url_number(2)), "two");
  scene.stop();
  Scene again(directory / "cache");
  EXPECT_EQ(again.loaded.entries, 1U);
}

// As when a disk that was removed is mounted again: its entries count, except those purged
// meanwhile.
TEST(DiskFault, ADirectoryThatComesBackIsReadAgain) {
  const TemporaryDirectory directory;
  const auto path = directory / "mount" / "cache";
  std::filesystem::create_directory(directory / "mount");
  Scene scene(path);
  ASSERT_TRUE(scene.append(response(url_number(1), "one")));
  ASSERT_TRUE(scene.append(response(url_number(2), "two")));
  std::filesystem::rename(directory / "mount", directory / "away");
  ASSERT_TRUE(await([&] { return !scene->state().working; }));
  EXPECT_EQ(scene->state().reason, Error::no_directory);
  EXPECT_FALSE(scene.body(url_number(1)));
  EXPECT_FALSE(scene.purge(key_for(url_number(2))));
  std::filesystem::rename(directory / "away", directory / "mount");
  ASSERT_TRUE(recovers(scene));
  EXPECT_EQ(*scene.body(url_number(1)), "one");
  EXPECT_FALSE(scene.body(url_number(2)));
}

// The purge was written to another directory meanwhile.
TEST(DiskFault, ADirectoryThatWasReplacedMeanwhileRestoresNoPurgedEntry) {
  const TemporaryDirectory directory;
  const auto path = directory / "cache";
  Scene scene(path);
  ASSERT_TRUE(scene.append(response(url_number(1), "one")));
  ASSERT_TRUE(scene.append(response(url_number(2), "two")));
  std::filesystem::rename(path, directory / "away");
  ASSERT_TRUE(await([&] { return std::filesystem::exists(path / "lock"); }));
  ASSERT_TRUE(recovers(scene));
  ASSERT_TRUE(scene.append(response(url_number(3), "three")));
  EXPECT_TRUE(scene->may_hold(key_for(url_number(2)))) << "or nobody would say that it is purged";
  EXPECT_TRUE(scene.purge(key_for(url_number(2))));
  std::filesystem::rename(path, directory / "stood_in");
  std::filesystem::rename(directory / "away", path);
  ASSERT_TRUE(await([&] { return !scene.body(url_number(3)); }));
  const NewRecord four = response(url_number(4), "four");
  ASSERT_TRUE(await([&] { return scene.append(four).has_value(); }));
  EXPECT_FALSE(scene.body(url_number(2)));
  scene.stop();
  Scene again(path);
  EXPECT_FALSE(again.body(url_number(2)));
  EXPECT_EQ(*again.body(url_number(4)), "four");
}

TEST(DiskFault, OwedPurgesAreWrittenAtTheEndIfTheDiskWorks) {
  const TemporaryDirectory directory;
  Options options = small_options(directory.path());
  options.first_rest = options.longest_rest = std::chrono::minutes(1);
  {
    Scene scene(options);
    ASSERT_TRUE(scene.append(response(url_number(1), "one")));
    {
      const NoSpace full(100);
      EXPECT_FALSE(scene.append(response(url_number(2), body_text("x", 5000))));
      EXPECT_FALSE(scene.purge(key_for(url_number(1))));
    }
    EXPECT_FALSE(scene->state().working);
  }
  EXPECT_FALSE(Scene(directory.path()).body(url_number(1)));
}

TEST(DiskFault, StartsWithoutItsDirectoryAndTakesItWhenItIsThere) {
  const TemporaryDirectory directory;
  Disk disk(running_clock(), small_options(directory / "later" / "cache"), digest::unpredictable());
  EXPECT_EQ(disk.start().error(), Error::no_directory);
  EXPECT_EQ(disk.append(response(url_number(1), "one")).error(), Error::resting);
  EXPECT_FALSE(disk.find(key_for(url_number(1)), url_number(1)));
  std::filesystem::create_directory(directory / "later");
  EXPECT_TRUE(await([&] { return disk.state().working; }));
}

TEST(DiskFault, TellsAFileInItsPathFromAMissingFolder) {
  const TemporaryDirectory directory;
  support::write_file(directory / "file", "x");
  for (const std::string path : {"file", "file/cache"}) {
    Disk disk(running_clock(), small_options(directory / path), digest::unpredictable());
    EXPECT_EQ(disk.start().error(), Error::not_directory) << path;
  }
}

// Three entries and a purge rule. The start reads the rule last, which holds it up.
struct ASlowStart : testing::Test {
  ASlowStart() {
    Options options = small_options(directory_.path());
    write(options);
    options.longest_start = std::chrono::milliseconds(50);
    options.purge_reading = [may = answers_.get_future().share()](std::string_view text) {
      may.wait();
      return PurgeRules::as_prefix(text);
    };
    disk_.emplace(running_clock(), options, digest::unpredictable());
    EXPECT_EQ(disk_->start().error(), Error::hangs);
  }
  static void write(const Options& options) {
    Alone before(options);
    for (std::uint64_t i = 1; i <= 3; ++i) {
      EXPECT_TRUE(before.log.append(response(url_number(i), "old")));
    }
    EXPECT_TRUE(before.log.append(
        {.header = {.kind = RecordKind::purge_prefix}, .url = "http://x.example/", .head = {}}));
    EXPECT_TRUE(before.log.flush());
  }
  bool finds(std::uint64_t number) {
    return disk_->find(key_for(url_number(number)), url_number(number)).has_value();
  }

  const TemporaryDirectory directory_;
  std::promise<void> answers_;
  std::optional<Disk> disk_;
};

TEST_F(ASlowStart, IsNotWaitedForAndCountsOnceItIsDone) {
  EXPECT_FALSE(disk_->state().working);
  EXPECT_EQ(disk_->state().reason, Error::hangs);
  EXPECT_EQ(disk_->append(response(url_number(1), "new")).error(), Error::resting);
  EXPECT_EQ(disk_->replace(response(url_number(2), "new")).error(), Error::resting);
  EXPECT_FALSE(finds(3));
  answers_.set_value();
  ASSERT_TRUE(await([&] { return disk_->state().working; }));
  EXPECT_TRUE(finds(1));
  EXPECT_FALSE(finds(2)) << "was replaced meanwhile";
  EXPECT_TRUE(finds(3));
  disk_.reset();
  Scene again(directory_.path());
  EXPECT_EQ(*again.body(url_number(1)), "old");
  EXPECT_FALSE(again.body(url_number(2)));
}

TEST_F(ASlowStart, DoesNotHoldUpTheEnd) {
  EXPECT_EQ(disk_->end(), Writer::End::hangs);
  answers_.set_value();
}

TEST_F(ASlowStart, IsNotStartedAgainWhileItHangs) {
  ASSERT_EQ(disk_->end(), Writer::End::hangs);
  EXPECT_EQ(disk_->start().error(), Error::hangs);
  answers_.set_value();
  EXPECT_TRUE(await([&] { return disk_->start().has_value(); }));
}

void damage(const std::filesystem::path& file, std::size_t at) {
  std::string bytes = read_file(file);
  bytes[at] = static_cast<char>(bytes[at] ^ 1);
  write_file(file, bytes);
}

TEST(DiskFault, ADamagedBodyIsDroppedAndCounted) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  ASSERT_TRUE(scene.append(response(url_number(1), "the body of number one")));
  ASSERT_TRUE(scene.append(response(url_number(2), "the body of number two")));
  const auto file = directory / "00000001.segment";
  damage(file, read_file(file).find("number one"));
  EXPECT_EQ(scene.body(url_number(1)).error(), Error::corrupt);
  EXPECT_EQ(scene.body(url_number(1)).error(), Error::gone);
  EXPECT_EQ(*scene.body(url_number(2)), "the body of number two");
  EXPECT_EQ(scene->catalog().counters.corrupt, 1U);
}

// A header composed by hand: version 3, with a correct checksum.
void write_other_version(const std::filesystem::path& file, std::uint32_t segment) {
  auto header = encode_segment_header(segment, 0);
  header[4] = kFormatVersion + 1;
  const auto checksum = digest::crc32c(Bytes(header).first(28));
  for (std::size_t i = 0; i < 4; ++i) header[28 + i] = static_cast<std::uint8_t>(checksum >> 8 * i);
  write_file(file, {reinterpret_cast<const char*>(header.data()), header.size()});
}

TEST(DiskFault, FilesOfOthersAreCountedAndNeverFatal) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  for (std::uint64_t i = 1; i <= 3; ++i) {
    ASSERT_TRUE(scene.append(response(url_number(i), body_text(url_number(i), 40'000))));
  }
  scene.stop();
  write_other_version(directory / "00000001.segment", 1);
  write_file(directory / "00000006.segment", std::string(5000, 'x'));
  write_file(directory / "00000007.segment", "");
  write_file(directory / "00000008.segment", std::string(5000, '\0'));
  write_file(directory / "00000000.segment", "not a number of ours");
  write_file(directory / "notes.txt", "somebody's");
  std::filesystem::create_directory(directory / "00000009.segment");
  std::filesystem::create_symlink("/etc/hostname", directory / "0000000a.segment");
  Scene again(directory.path());
  EXPECT_EQ(again.loaded.other_version, 1U);
  EXPECT_EQ(again.loaded.damaged, 1U);
  EXPECT_EQ(again.loaded.forgotten, 0U);
  EXPECT_EQ(again.loaded.entries, 2U);
  EXPECT_EQ(*again.body(url_number(3)), body_text(url_number(3), 40'000));
  EXPECT_FALSE(std::filesystem::exists(directory / "00000001.segment"));
  EXPECT_FALSE(std::filesystem::exists(directory / "00000006.segment"));
  EXPECT_EQ(read_file(directory / "notes.txt"), "somebody's");
  ASSERT_TRUE(again.append(response(url_number(4), "four")));
  EXPECT_EQ(*again.body(url_number(4)), "four");
}

TEST(DiskFault, ADamagedFooterOrHeaderLosesNoRecord) {
  const TemporaryDirectory directory;
  Scene scene(directory.path());
  for (std::uint64_t i = 0; i < 60; ++i) {
    ASSERT_TRUE(scene.append(response(url_number(i), body_text(url_number(i), 4000))));
  }
  scene.stop();
  damage(directory / "00000001.segment", 9);
  const auto second = directory / "00000002.segment";
  damage(second, read_file(second).size() - 100);
  Scene again(directory.path());
  EXPECT_EQ(again.loaded.entries, 60U);
  EXPECT_EQ(again.loaded.damaged, 2U);
  for (std::uint64_t i = 0; i < 60; ++i) EXPECT_TRUE(again.body(url_number(i))) << i;
  again.stop();
  Scene healed(directory.path());  // the footer is whole again
  EXPECT_EQ(healed.loaded.replayed, 0U);
  EXPECT_EQ(healed.loaded.entries, 60U);
}

}  // namespace
}  // namespace proxy::cache::disk
