// Parts of a stored response (RFC 9110 14, 15.3.7): which are asked for, and the text around them.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/cache/entry.hpp"
#include "proxy/cache/policy.hpp"
#include "proxy/http/range.hpp"

namespace proxy::cache {

// The entry's Last-Modified where two versions cannot share it: the response was made well after
// (RFC 9110 8.8.2.2). Else empty.
std::string_view strong_date(const Entry& entry);
// Its ETag if that is strong; where it has none, the date if that is. Else empty.
std::string_view strong_validator(const Entry& entry);

// Whether it is a checksum of what one message carries (RFC 9530 2, RFC 1864), which another part,
// or the whole, does not have.
bool is_of_whole_content(const http::Field& line);

// Which bytes of the representation a stored response has; a body of no bytes counts as one.
http::ByteRange held(const Entry& entry);
// Whether a part has all the bytes that it says it has. One that has fewer is reused for what it
// has and nothing else: it tells no complete length, and is never combined (see combine.hpp).
bool is_as_said(const Entry& entry);
// The length of the whole, as far as it is known.
std::optional<std::uint64_t> complete_length(const Entry& entry);

// Whether the range may be of this entry: there is no If-Range, or it names this version, by strong
// comparison or exactly that date (RFC 9110 13.1.5).
bool meets_if_range(const RequestFacts& request, const Entry& entry);
// What the Range of a GET selects of a stored response, after the client's other conditions (RFC
// 9110 13.2.2): all of it where If-Range names another version, for an error, and where there is
// more than one Range field. Of one that is a part: `whole` where it does not have what is asked
// for, and so cannot answer.
http::Selection parts_wanted(const RequestFacts& request, const Entry& entry);
// Whether what is stored has what this request asks for (RFC 9111 3.3).
bool covers(const RequestFacts& request, const Entry& entry);

// A 206 around its parts.
struct PartialText {
  std::string head;                   // status line and fields, as Entry::head
  std::vector<std::string> openings;  // before each part; empty for a single one
  std::string closing;                // after the last
};

// One part, or several as multipart/byteranges; the positions are those of the whole. `boundary`
// must not be known to who made the bytes.
PartialText partial_text(const Entry& entry, const http::ByteRanges& parts,
                         std::string_view boundary);

}  // namespace proxy::cache
