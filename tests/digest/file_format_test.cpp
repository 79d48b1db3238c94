#include "digest/file_format.hpp"

#include <gtest/gtest.h>

#include "saved.hpp"

namespace digest {
namespace {

std::vector<std::uint8_t> sample() {
  FileWriter file(FilterKind::bloom);
  file.number(0x0102030405060708);
  return std::move(file).finish();
}

TEST(FileFormat, IsPinned) {
  const std::vector<std::uint8_t> expected = {'H',  'S',  'Y',  'F',  1, 1, 0, 0,  //
                                              8,    0,    0,    0,    0, 0, 0, 0,  //
                                              0x85, 0xfb, 0xe5, 0x7d, 0, 0, 0, 0,  //
                                              8,    7,    6,    5,    4, 3, 2, 1};
  EXPECT_EQ(sample(), expected);
}

TEST(FileFormat, TellsWhyAFileIsRefused) {
  const auto refusal = [](std::vector<std::uint8_t> file, std::size_t at, std::uint8_t value) {
    file.at(at) = value;
    return FileReader::open(file, FilterKind::bloom).error();
  };
  EXPECT_EQ(refusal(sample(), 0, 'X'), FileError::not_a_filter);
  EXPECT_EQ(refusal(sample(), 4, 2), FileError::unknown_version);
  EXPECT_EQ(refusal(sample(), 5, 2), FileError::other_kind);
  EXPECT_EQ(refusal(sample(), 6, 1), FileError::damaged);
  EXPECT_EQ(refusal(sample(), 8, 7), FileError::wrong_length);
  EXPECT_EQ(refusal(sample(), 20, 1), FileError::damaged);
  EXPECT_EQ(refusal(sample(), 31, 0), FileError::damaged);
  EXPECT_EQ(FileReader::open({}, FilterKind::bloom).error(), FileError::not_a_filter);
}

TEST(FileFormat, SaysWhatKindAFileIs) {
  EXPECT_EQ(kind_of(sample()), FilterKind::bloom);
  EXPECT_EQ(kind_of({}), std::nullopt);
  EXPECT_EQ(kind_of(std::vector<std::uint8_t>(100)), std::nullopt);
}

TEST(FileFormat, GivesNothingBeyondTheEnd) {
  const auto file = sample();
  auto reader = FileReader::open(file, FilterKind::bloom);
  EXPECT_EQ(reader->number(), 0x0102030405060708U);
  EXPECT_TRUE(reader->complete());
  EXPECT_EQ(reader->number(), 0U);
  EXPECT_TRUE(reader->bytes(~std::uint64_t{0}).empty());
  EXPECT_FALSE(reader->complete());
}

TEST(FileFormat, BringsEveryShapeBack) {
  const Salt salt = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  const Shape shapes[] = {{1, 1},
                          {kMaxBits, kMaxHashes},
                          {80, 4, Derivation::squid_words},
                          {80, 4, Derivation::double_hashing, Layout::partitioned},
                          {80, 4, Derivation::salted, Layout::plain, salt}};
  for (const Shape& shape : shapes) {
    FileWriter writer(FilterKind::bloom);
    writer.shape(shape);
    const auto file = std::move(writer).finish();
    EXPECT_EQ(file.size(), kEnvelopeBytes + kShapeBytes);
    EXPECT_EQ(FileReader::open(file, FilterKind::bloom)->shape(), shape);
  }
}

TEST(FileFormat, RefusesAShapeThatNoFilterHas) {
  FileWriter writer(FilterKind::bloom);
  writer.shape({80, 4});
  const auto good = payload_of(std::move(writer).finish());
  const std::pair<std::size_t, std::uint8_t> changes[] = {{0, 0},  {7, 1},  {8, 0},  {8, 33},
                                                          {12, 3}, {13, 2}, {14, 1}, {20, 1}};
  for (const auto& [at, value] : changes) {
    auto payload = good;
    payload[at] = value;
    const auto file = file_of(FilterKind::bloom, payload);
    EXPECT_EQ(FileReader::open(file, FilterKind::bloom)->shape(), std::nullopt) << at;
  }
}

}  // namespace
}  // namespace digest
