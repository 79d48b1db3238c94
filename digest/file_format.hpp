// The envelope in which every filter is saved, and the fields inside it.
//
// All numbers are little-endian. The envelope is 24 bytes, the payload follows, nothing after it:
//    0  4  "HSYF"             8  8  bytes of payload
//    4  1  version, 1        16  4  CRC-32C of bytes 0 to 15, then of the payload
//    5  1  FilterKind        20  4  0
//    6  2  0
// A shape within a payload is 32 bytes:
//    0  8  bits              12  1  derivation: 0 double_hashing, 1 squid_words, 2 salted
//    8  4  hashes            13  1  layout: 0 plain, 1 partitioned
//   14  2  0                 16 16  salt, 0 unless salted
// What each kind's payload holds stands in the header of that filter.
#pragma once

#include <boost/system/result.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "digest/shape.hpp"

namespace digest {

inline constexpr std::size_t kEnvelopeBytes = 24;
inline constexpr std::size_t kShapeBytes = 32;

enum class FilterKind : std::uint8_t {
  bloom = 1,
  counting = 2,
  scalable = 3,
  blocked = 4,
  quotient = 5,
  mapped = 6,
};

enum class FileError : std::uint8_t {
  not_a_filter,     // too short for an envelope, or does not begin as one
  unknown_version,  // written by a later program
  other_kind,       // a filter, but not of the kind asked for
  wrong_length,     // cut short, or more follows
  damaged,          // the checksum does not fit
  bad_shape,        // a shape or parameter that no filter can have
  bad_content,      // content that no filter of this shape can have
};

std::string_view to_string(FileError error);

template <class T>
using Loaded = boost::system::result<T, FileError>;

// The kind, of anything that begins as a filter of ours. Nothing else is checked.
std::optional<FilterKind> kind_of(std::span<const std::uint8_t> file);

// How long the whole file is that begins so, as its envelope says: what it is to be held against
// before the rest is read. Not of a mapped filter, whose bits are no payload.
Loaded<std::uint64_t> announced_bytes(std::span<const std::uint8_t> head);

// Builds a file field by field.
class FileWriter {
 public:
  explicit FileWriter(FilterKind kind, std::size_t expected_payload = 0);

  FileWriter& number(std::uint64_t value);  // 8 bytes
  FileWriter& bytes(std::span<const std::uint8_t> content);
  FileWriter& shape(const Shape& shape);

  // The whole file.
  std::vector<std::uint8_t> finish() &&;

 private:
  std::vector<std::uint8_t> file_;
};

// Takes a file apart; safe on any bytes, and refers to them. What is read beyond the end is zero or
// empty and makes complete() false: read all, then ask once, before anything is allocated.
class FileReader {
 public:
  // Checks the envelope, the checksum included.
  static Loaded<FileReader> open(std::span<const std::uint8_t> file, FilterKind kind);

  std::uint64_t number();
  std::span<const std::uint8_t> bytes(std::uint64_t count);
  // Nothing if no filter can have it.
  std::optional<Shape> shape();

  std::size_t left() const { return payload_.size(); }
  // All that was asked for was there, and nothing is left.
  bool complete() const { return !overrun_ && payload_.empty(); }

 private:
  explicit FileReader(std::span<const std::uint8_t> payload) : payload_(payload) {}

  std::span<const std::uint8_t> payload_;
  bool overrun_ = false;
};

}  // namespace digest
