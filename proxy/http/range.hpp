// Range requests (RFC 9110 14): which bytes of a representation are asked for. Pure.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proxy::http {

// Positions of the first and the last byte, both within the representation.
struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  std::uint64_t size() const { return last - first + 1; }
  bool operator==(const ByteRange&) const = default;
};
using ByteRanges = boost::container::small_vector<ByteRange, 2>;

// Who asks for more ranges than this gets the whole (RFC 9110 17.15).
inline constexpr std::size_t kMostRanges = 16;

struct Selection {
  enum class Kind : std::uint8_t {
    whole,  // the Range field is to be ignored
    parts,  // 206
    none,   // 416: all of it lies beyond the end
  };
  Kind kind = Kind::whole;
  ByteRanges parts;  // disjoint, in the order asked for; those that overlap or touch are one
};

// What a Range field's value selects of a representation of `size` bytes. Another unit than bytes
// and what is malformed are ignored, as 14.2 allows.
Selection select_ranges(std::string_view range, std::uint64_t size);

// What of a Range field's value is worth sending on, whatever the length is: ranges that overlap or
// touch are one, as are suffixes, and stand where the first of them stood; else it stays as it is.
// Nothing where it asks for more than kMostRanges, as if it were not there (14.2, 17.15). What is
// malformed or of another unit stays as it is, for others to make of it what they will.
std::optional<std::string> heeded_range(std::string_view range);

// One range as it is asked for: `first-last` or `first-`.
struct AskedRange {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> last;  // none: to the end, wherever that is

  bool operator==(const AskedRange&) const = default;
};
using AskedRanges = std::vector<AskedRange>;
// Nothing where a Range field's value is not simply that.
std::optional<AskedRange> only_range(std::string_view range);
// One or several, as they stand there; none where one is a suffix, or they are too many.
AskedRanges asked_ranges(std::string_view range);
// As the field has it: "bytes=5-9" or "bytes=5-".
std::string range_field(const AskedRange& range);

// Whether they overlap, or one begins where the other ends.
bool touch(const ByteRange& a, const ByteRange& b);

// Which bytes a 206 has (14.4).
struct ContentRange {
  ByteRange range;
  std::optional<std::uint64_t> complete;  // length of the representation; none: not told

  bool is_whole() const { return range.first == 0 && complete == range.last + 1; }
  bool operator==(const ContentRange&) const = default;
};

// The value of Content-Range: "bytes 0-4/11" or "bytes 0-4/*", and for 416 "bytes */11".
std::string content_range(const ContentRange& part);
std::string unsatisfied_range(std::uint64_t size);
// Nothing for another unit, what is malformed, the form of 416, and what contradicts itself (14.4).
// `range.last + 1` is a number.
std::optional<ContentRange> parse_content_range(std::string_view value);

}  // namespace proxy::http
