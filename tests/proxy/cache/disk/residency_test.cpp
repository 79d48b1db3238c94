#include "proxy/cache/disk/segments.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/temporary_directory.hpp"

namespace proxy::cache::disk {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kPages = 600;  // more than one call of mincore() tells of

class ResidencyOfAFile : public ::testing::Test {
 protected:
  ResidencyOfAFile() {
    const std::string bytes(kPages * kPage, 'x');
    EXPECT_TRUE(file_.write(bytes_of(bytes), 0));
    EXPECT_TRUE(file_.sync());  // only clean pages can leave
  }
  void drop(std::uint64_t from, std::uint64_t bytes) const {
    ::posix_fadvise(file_.descriptor(), static_cast<off_t>(from), static_cast<off_t>(bytes),
                    POSIX_FADV_DONTNEED);
  }
  // Both ways to ask the system.
  bool has(std::uint64_t offset, std::uint64_t bytes) const {
    const bool is_there = residency_.has(offset, bytes);
    EXPECT_EQ(residency_.has_by_mapping(offset, bytes), is_there) << offset << ' ' << bytes;
    return is_there;
  }

  const support::TemporaryDirectory home_;
  const File file_ = *File::open(AT_FDCWD, (home_.path() / "a").c_str(), O_RDWR | O_CREAT);
  const Residency residency_{file_};
};

TEST_F(ResidencyOfAFile, HasWhatWasWritten) {
  EXPECT_TRUE(has(0, kPages * kPage));
  EXPECT_TRUE(has(5, 1));
  EXPECT_TRUE(has(kPages * kPage - 1, 1));
  EXPECT_TRUE(has(0, 0));
}

TEST_F(ResidencyOfAFile, LacksBytesOfEachPageThatLeft) {
  drop(0, kPages * kPage);
  if (has(0, kPage)) GTEST_SKIP() << "this file system keeps its pages";
  std::uint8_t byte = 0;
  for (const auto page : {std::uint64_t{3}, kPages - 1}) {
    EXPECT_FALSE(has(page * kPage + 7, 1));
    EXPECT_TRUE(file_.read({&byte, 1}, page * kPage, Wait::yes));
    EXPECT_TRUE(has(page * kPage + 7, 1));
  }
  EXPECT_FALSE(has(0, kPages * kPage));
}

TEST_F(ResidencyOfAFile, LacksWhatTheFileDoesNotHave) {
  EXPECT_FALSE(has(kPages * kPage, 1));
  EXPECT_FALSE(has(kPages * kPage - 1, 2));
  EXPECT_FALSE(has(0, std::uint64_t{kMaxSegmentBytes} + 1));
  EXPECT_TRUE(file_.truncate(kPage));
  EXPECT_FALSE(has(0, 2 * kPage));
  EXPECT_TRUE(has(0, kPage));
}

}  // namespace
}  // namespace proxy::cache::disk
