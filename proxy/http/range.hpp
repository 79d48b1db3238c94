// Range requests (RFC 9110 14): which bytes of a representation a request asks for. Pure.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
namespace proxy::http {

struct RequestHead;

// The positions of the first and the last byte, both within the representation.
struct ByteRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  std::uint64_t size() const { return last - first + 1; }
  bool operator==(const ByteRange&) const = default;
};
using ByteRanges = boost::container::small_vector<ByteRange, 2>;

// A request for more ranges gets the whole representation (RFC 9110 17.15). Ascending ranges, of
// which each begins behind the end of the one before, cannot multiply a body.
inline constexpr std::size_t kMostRanges = 16;
inline constexpr std::size_t kMostAscending = 1024;

struct Selection {
  enum class Kind : std::uint8_t {
    whole,  // the Range field is ignored
    parts,  // 206
    none,   // 416: every range begins beyond the end
  };
  Kind kind = Kind::whole;
  // The parts are disjoint, and in the order asked for. Ascending ranges are not joined, because
  // their clients expect one part for each range. Other ranges are joined if they overlap or are
  // adjacent.
  ByteRanges parts;
};

// Applies the value of a Range field to a representation of `size` bytes. Other units and malformed
// values are ignored, as 14.2 allows.
Selection select_ranges(std::string_view range, std::uint64_t size);

// Rewrites the value of a Range field for forwarding, whatever the size is. If the ranges do not
// ascend, the call joins ranges that overlap or touch, and joins all suffixes. A joined range
// stands where the first of its parts stood. All other ranges stay as they are. Returns nothing for
// too many ranges: the field is then dropped (14.2, 17.15). A malformed value or another unit is
// returned unchanged, for the origin to interpret.
std::optional<std::string> joined_range(std::string_view range);

// One range as a request states it: `first-last` or `first-`.
struct AskedRange {
  std::uint64_t first = 0;
  std::optional<std::uint64_t> last;  // none: to the end, wherever that is

  bool operator==(const AskedRange&) const = default;
};
using AskedRanges = std::vector<AskedRange>;
// Returns nothing unless the value of a Range field is one such range.
std::optional<AskedRange> only_range(std::string_view range);
// The ranges as stated; empty if one of them is a suffix or there are too many.
AskedRanges asked_ranges(std::string_view range);
// Whether each range begins behind the end of the one before.
bool ascend(const AskedRanges& ranges);
// The value of the field Range: "bytes=5-9" or "bytes=5-".
std::string range_field(const AskedRange& range);

// Whether the two overlap or are adjacent.
bool touch(const ByteRange& a, const ByteRange& b);

// The bytes that a 206 contains (14.4).
struct ContentRange {
  ByteRange range;
  std::optional<std::uint64_t> complete;  // length of the representation; none: unknown

  bool is_whole() const { return range.first == 0 && complete == range.last + 1; }
  bool operator==(const ContentRange&) const = default;
};

// Values of Content-Range: "bytes 0-4/11" or "bytes 0-4/*"; for 416, "bytes */11".
std::string content_range(const ContentRange& part);
std::string unsatisfied_range(std::uint64_t size);
// The length that the value tells in the form of 416; nothing for any other value.
std::optional<std::uint64_t> unsatisfied_length(std::string_view value);
// Returns nothing for another unit, a malformed value, the form of 416, and a value that
// contradicts itself (14.4). `range.last + 1` never overflows.
std::optional<ContentRange> parse_content_range(std::string_view value);

// Whether the request is signed and its Range may be a part of what is signed: its URL has a
// signature (the parameter X-Amz-Signature, X-Goog-Signature or Signature), or its Authorization,
// Signature (RFC 9421) or Signature-Input names `range`, as the SignedHeaders of AWS do. Pure.
bool signs_range(const RequestHead& request);

}  // namespace proxy::http
