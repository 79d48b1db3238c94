// Damage to the newest segment after a crash, and segments that are missing.
#include <filesystem>
#include <fstream>

#include "scene.hpp"

namespace proxy::cache::disk {
namespace {

using support::TemporaryDirectory;

// Overwrites bytes in the middle of a segment's file.
void overwrite(const std::filesystem::path& directory, Position at, std::string_view bytes) {
  const auto name = directory / (std::string("0000000") + std::to_string(at.segment) + ".segment");
  std::fstream file(name, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(at.offset);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(file.good());
}

std::uint32_t append(Alone& alone, const std::string& url, std::size_t bytes = 100) {
  EXPECT_TRUE(alone.log.append(response(url, body_text(url, bytes))));
  EXPECT_TRUE(alone.log.flush());
  return alone.index.find(key_for(url))->at.offset;
}

void purge(Alone& alone, const std::string& url) {
  EXPECT_TRUE(alone.log.append(
      {.header = {.kind = RecordKind::purge, .key = key_for(url)}, .url = {}, .head = {}}));
  EXPECT_TRUE(alone.log.flush());
}

bool holds(const Alone& alone, const std::string& url) {
  return alone.index.find(key_for(url)).has_value();
}

// Returns the offset of the second record, which lies between the first record and its purge.
std::uint32_t write_three_and_purge_the_first(const std::filesystem::path& path) {
  Alone alone(small_options(path));
  append(alone, "http://a/1");
  const auto second = append(alone, "http://a/2");
  purge(alone, "http://a/1");
  append(alone, "http://a/3");
  return second;
}

TEST(DiskDamage, RecordsBehindADamagedOneCountAndSoDoPurges) {
  const TemporaryDirectory directory;
  const auto damaged = write_three_and_purge_the_first(directory.path());
  overwrite(directory.path(), {1, damaged}, "X");
  {
    Alone again(small_options(directory.path()));
    EXPECT_FALSE(holds(again, "http://a/1")) << "purged behind the damage";
    EXPECT_FALSE(holds(again, "http://a/2"));
    EXPECT_TRUE(holds(again, "http://a/3"));
    append(again, "http://a/4");
  }
  Alone then(small_options(directory.path()));
  EXPECT_FALSE(holds(then, "http://a/1"));
  EXPECT_TRUE(holds(then, "http://a/3"));
  EXPECT_TRUE(holds(then, "http://a/4")) << "written since";
}

TEST(DiskDamage, IfAPurgeMayBeLostNoEarlierEntryIsFound) {
  const TemporaryDirectory directory;
  const auto damaged = write_three_and_purge_the_first(directory.path());
  overwrite(directory.path(), {1, damaged}, std::string(4096, 'X').substr(0, 320));
  Alone again(small_options(directory.path()));
  EXPECT_FALSE(holds(again, "http://a/1"));
  EXPECT_FALSE(holds(again, "http://a/2"));
}

// The damaged newest segment may have had purges. A later start must know that, too, though another
// segment follows by then.
TEST(DiskDamage, IfTheNewestSegmentIsUnreadableNoEarlierEntryIsFound) {
  const TemporaryDirectory directory;
  {
    Alone alone(small_options(directory.path()));
    append(alone, "http://a/1", 60'000);
    append(alone, "http://a/2", 30'000);
    purge(alone, "http://a/1");
    ASSERT_EQ(alone.segments.count(), 2U);
    alone.log.abandon();
  }
  const auto newest = directory / "00000002.segment";
  std::ofstream(newest, std::ios::binary | std::ios::trunc) << std::string(5000, 'x');
  for (int start = 0; start < 4; ++start) {
    Alone again(small_options(directory.path()));
    EXPECT_FALSE(holds(again, "http://a/1")) << start;
    if (start == 0) append(again, "http://a/3");
    EXPECT_TRUE(holds(again, "http://a/3")) << start;
    again.log.abandon();
  }
}

TEST(DiskDamage, AMissingSegmentIsNoticedIfItHadPurges) {
  for (const bool purges : {true, false}) {
    const TemporaryDirectory directory;
    {
      Alone alone(small_options(directory.path()));
      append(alone, "http://a/1", 60'000);
      if (purges) {
        append(alone, "http://a/2", 30'000);
        purge(alone, "http://a/1");
        append(alone, "http://a/3", 30'000);
      } else {
        append(alone, "http://a/2", 60'000);
      }
      append(alone, "http://a/4", 60'000);
    }
    std::filesystem::remove(directory / "00000002.segment");
    Alone again(small_options(directory.path()));
    EXPECT_EQ(holds(again, "http://a/1"), !purges);
    EXPECT_FALSE(holds(again, "http://a/2"));
    EXPECT_TRUE(holds(again, "http://a/4"));
  }
}

}  // namespace
}  // namespace proxy::cache::disk
