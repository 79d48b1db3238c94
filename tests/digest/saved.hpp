// Checks that every saved filter survives a file that was cut, changed or invented.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "digest/file_format.hpp"
#include "digest/key.hpp"

namespace digest {

// A file with a correct checksum, whatever it holds.
inline std::vector<std::uint8_t> file_of(FilterKind kind, std::span<const std::uint8_t> payload) {
  FileWriter file(kind);
  file.bytes(payload);
  return std::move(file).finish();
}

inline std::vector<std::uint8_t> payload_of(std::span<const std::uint8_t> file) {
  return {file.begin() + kEnvelopeBytes, file.end()};
}

// Changes one byte of the file's payload, corrects the checksum and loads the result.
template <class Filter>
Loaded<Filter> load_changed(FilterKind kind, std::span<const std::uint8_t> file, std::size_t at,
                            std::uint8_t value) {
  auto payload = payload_of(file);
  payload.at(at) = value;
  return Filter::load(file_of(kind, payload));
}

template <class Filter>
void expect_no_damage_passes(const std::vector<std::uint8_t>& file) {
  ASSERT_TRUE(Filter::load(file).has_value());
  for (std::size_t length = 0; length < file.size(); ++length) {
    EXPECT_FALSE(Filter::load(std::span(file).first(length)).has_value()) << length;
  }
  auto longer = file;
  longer.push_back(0);
  EXPECT_EQ(Filter::load(longer).error(), FileError::wrong_length);
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    auto flipped = file;
    flipped[bit / 8] = static_cast<std::uint8_t>(flipped[bit / 8] ^ 1U << bit % 8);
    EXPECT_FALSE(Filter::load(flipped).has_value()) << bit;
  }
}

// Cuts a payload short or changes a byte of it. The result must be refused, or be a filter that can
// be saved and looked up in.
template <class Filter>
void expect_safe_on_any_payload(FilterKind kind, const std::vector<std::uint8_t>& file) {
  const auto payload = payload_of(file);
  for (std::size_t length = 0; length < payload.size(); ++length) {
    EXPECT_FALSE(Filter::load(file_of(kind, std::span(payload).first(length))).has_value());
  }
  for (std::size_t at = 0; at < payload.size(); ++at) {
    for (const std::uint8_t value : std::array<std::uint8_t, 5>{0, 1, 0x7f, 0x80, 0xff}) {
      const auto filter = load_changed<Filter>(kind, file, at, value);
      if (!filter) continue;
      filter->contains(Key{});
      EXPECT_TRUE(Filter::load(filter->save()).has_value()) << at << ' ' << int{value};
    }
  }
}

}  // namespace digest
