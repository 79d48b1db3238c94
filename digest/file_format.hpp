// The envelope that every saved filter has, and the fields inside it.
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
// The header of each filter describes the payload of its kind.
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
  bloomier = 7,
  weighted = 8,
  bounds = 9,
  adaptive = 10,
  message = 11,
};

enum class FileError : std::uint8_t {
  not_a_filter,     // too short for an envelope, or does not begin like one
  unknown_version,  // written by a later version of this program
  other_kind,       // a filter of another kind than the caller asked for
  wrong_length,     // cut short, or followed by more bytes
  damaged,          // the checksum does not match
  bad_shape,        // a shape or parameter that no filter can have
  bad_content,      // content that no filter of this shape can have
};

std::string_view to_string(FileError error);

template <class T>
using Loaded = boost::system::result<T, FileError>;

// The kind of a file that begins like a saved filter. Checks nothing else.
std::optional<FilterKind> kind_of(std::span<const std::uint8_t> file);

// The length of the whole file, as its envelope announces it, so that a caller can compare it with
// a limit before it reads the rest. Not for mapped filters, whose bits are outside of the payload.
Loaded<std::uint64_t> announced_bytes(std::span<const std::uint8_t> head);

// Writes a file field by field.
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

// Reads a file field by field, without copying it. Safe on any bytes. Reading beyond the end yields
// zeros or nothing and makes complete() false, so the caller reads all fields, then checks
// complete() once before it allocates anything.
class FileReader {
 public:
  // Checks the envelope and the checksum.
  static Loaded<FileReader> open(std::span<const std::uint8_t> file, FilterKind kind);

  std::uint64_t number();
  std::span<const std::uint8_t> bytes(std::uint64_t count);
  // Returns nothing if no filter can have this shape.
  std::optional<Shape> shape();

  std::size_t left() const { return payload_.size(); }
  // Whether every field was there and nothing is left.
  bool complete() const { return !overrun_ && payload_.empty(); }

 private:
  explicit FileReader(std::span<const std::uint8_t> payload) : payload_(payload) {}

  std::span<const std::uint8_t> payload_;
  bool overrun_ = false;
};

}  // namespace digest
