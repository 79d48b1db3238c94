#include "digest/mapped_filter.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <iterator>
#include <span>
#include <vector>

#include "digest/base64.hpp"
#include "keys.hpp"

namespace digest {
namespace {

const Shape kShape{12'001, 8};

class AMappedFilter : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "mapped_filter.XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    path_ = folder_ / "filter";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void overwrite(std::size_t at, char value) const {
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(value);
  }

  std::filesystem::path folder_;
  std::filesystem::path path_;
};

TEST_F(AMappedFilter, SaysWhatABloomFilterSays) {
  auto mapped = *MappedFilter::create(path_, kShape);
  auto plain = *BloomFilter::create(kShape);
  for (std::uint64_t i = 0; i < 1'000; ++i) {
    EXPECT_EQ(*mapped.insert(quick_key(i)), plain.insert(quick_key(i)));
  }
  EXPECT_EQ(mapped.copy(), plain);
  for (std::uint64_t i = 0; i < 5'000; ++i) {
    EXPECT_EQ(mapped.contains(quick_key(i)), plain.contains(quick_key(i)));
  }
  EXPECT_TRUE(mapped.sync().has_value());
}

TEST_F(AMappedFilter, IsThereAgainWhenOpened) {
  ASSERT_TRUE(MappedFilter::create(path_, kShape)->insert(quick_key(1)).has_value());
  auto again = *MappedFilter::open(path_, Access::write);
  EXPECT_EQ(again.shape(), kShape);
  EXPECT_FALSE(*again.insert(quick_key(1)));
  EXPECT_TRUE(*again.insert(quick_key(2)));
}

TEST_F(AMappedFilter, LosesNothingWhenItsWriterIsKilled) {
  constexpr std::uint64_t kKeys = 500;
  const pid_t writer = fork();
  if (writer == 0) {
    auto filter = MappedFilter::create(path_, kShape);
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      if (!filter->insert(quick_key(i))) _exit(1);
    }
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(writer, &status, 0), writer);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto filter = MappedFilter::open(path_, Access::write);
  ASSERT_TRUE(filter.has_value()) << to_string(filter.error());
  for (std::uint64_t i = 0; i < kKeys; ++i) ASSERT_TRUE(filter->contains(quick_key(i)));
}

TEST_F(AMappedFilter, ShowsAReaderWhatTheWriterInserts) {
  auto writer = *MappedFilter::create(path_, kShape);
  auto reader = *MappedFilter::open(path_, Access::read);
  EXPECT_FALSE(reader.contains(quick_key(1)));
  ASSERT_TRUE(writer.insert(quick_key(1)).has_value());
  EXPECT_TRUE(reader.contains(quick_key(1)));
  EXPECT_EQ(reader.insert(quick_key(2)).error(), MappedError::read_only);
  EXPECT_EQ(reader.sync().error(), MappedError::read_only);
}

TEST_F(AMappedFilter, HasOneWriter) {
  {
    const auto writer = *MappedFilter::create(path_, kShape);
    EXPECT_EQ(MappedFilter::open(path_, Access::write).error(), MappedError::in_use);
    EXPECT_EQ(MappedFilter::create(path_, kShape).error(), MappedError::exists);
  }
  EXPECT_TRUE(MappedFilter::open(path_, Access::write).has_value());
}

TEST_F(AMappedFilter, LeavesNoFileBesideItsOwn) {
  ASSERT_TRUE(MappedFilter::create(path_, kShape).has_value());
  ASSERT_FALSE(MappedFilter::create(path_, kShape).has_value());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(AMappedFilter, IsRefusedWithTheReason) {
  EXPECT_EQ(MappedFilter::create(path_, {0, 8}).error(), MappedError::bad_shape);
  EXPECT_EQ(MappedFilter::open(path_, Access::read).error(), MappedError::not_found);
  EXPECT_EQ(MappedFilter::open(folder_, Access::read).error(), MappedError::not_a_filter);
  EXPECT_EQ(MappedFilter::create(folder_ / "no" / "where", kShape).error(), MappedError::not_found);
}

TEST_F(AMappedFilter, IsNotOpenedCutShortOrWithADamagedHeader) {
  ASSERT_TRUE(MappedFilter::create(path_, kShape).has_value());
  const auto size = std::filesystem::file_size(path_);
  for (const std::uintmax_t length : {std::uintmax_t{0}, std::uintmax_t{55}, size - 1, size + 1}) {
    std::filesystem::resize_file(path_, length);
    EXPECT_EQ(MappedFilter::open(path_, Access::read).error(), MappedError::not_a_filter) << length;
  }
  std::filesystem::remove(path_);
  ASSERT_TRUE(MappedFilter::create(path_, kShape).has_value());
  overwrite(kEnvelopeBytes, 0x55);
  EXPECT_EQ(MappedFilter::open(path_, Access::read).error(), MappedError::not_a_filter);
}

// Produced independently of this code, in Python.
TEST_F(AMappedFilter, HasAPinnedFile) {
  auto filter = *MappedFilter::create(path_, {100, 3});
  ASSERT_TRUE(filter.insert(key_of(Method::get, "http://example.com/")).has_value());
  std::ifstream file(path_, std::ios::binary);
  const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  ASSERT_EQ(bytes.size(), 4096U + 13U);
  EXPECT_EQ(to_base64(std::span(bytes).first(56)),
            "SFNZRgEGAAAgAAAAAAAAAD+JbMsAAAAAZAAAAAAAAAADAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");
  EXPECT_EQ(std::count(bytes.begin() + 56, bytes.begin() + 4096, 0), 4096 - 56);
  EXPECT_EQ(to_base64(std::span(bytes).subspan(4096)), "AIAAAEAAAEAAAAAAAA==");
}

TEST_F(AMappedFilter, TakesAnyBits) {
  ASSERT_TRUE(MappedFilter::create(path_, kShape).has_value());
  overwrite(std::filesystem::file_size(path_) - 1, '\xff');
  const auto filter = MappedFilter::open(path_, Access::read);
  ASSERT_TRUE(filter.has_value());
  EXPECT_EQ(filter->copy().bits_set(), 1U) << "one bit of the last byte is the filter's";
}

}  // namespace
}  // namespace digest
