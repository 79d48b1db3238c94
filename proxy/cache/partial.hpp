// Parts of a stored response (RFC 9110 14, 15.3.7): which are asked for, and the text around them.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/cache/entry.hpp"
#include "proxy/http/range.hpp"

namespace proxy::cache {

// The entry's Last-Modified where two versions cannot share it: the response was made well after
// (RFC 9110 8.8.2.2). Else empty.
std::string_view strong_date(const Entry& entry);
// Its ETag if that is strong; where it has none, the date if that is. Else empty.
std::string_view strong_validator(const Entry& entry);

// What the Range of a GET selects of a whole stored response, after the client's other conditions
// (RFC 9110 13.2.2): all of it where If-Range names another version, for another status than 200,
// and where there is more than one Range field.
http::Selection parts_wanted(const http::Fields& request, const Entry& entry);

// A 206 around its parts.
struct PartialText {
  std::string head;                   // status line and fields, as Entry::head
  std::vector<std::string> openings;  // before each part; empty for a single one
  std::string closing;                // after the last
};

// One part, or several as multipart/byteranges; `boundary` must not be known to who made the bytes.
PartialText partial_text(const Entry& entry, const http::ByteRanges& parts,
                         std::string_view boundary);

}  // namespace proxy::cache
