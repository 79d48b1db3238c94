// The answers that a stored response gives without being sent whole: its parts (RFC 9110 14,
// 15.3.7), and a 304 (15.4.5). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/cache/entry.hpp"
#include "proxy/cache/judge.hpp"
#include "proxy/http/range.hpp"

namespace proxy::cache {

// The entry's Last-Modified if no two versions can share it, because the response was made well
// after it (RFC 9110 8.8.2.2). Else empty.
std::string_view strong_date(const Entry& entry);
// The entry's ETag if that is strong; without an ETag, its strong_date(). Else empty.
std::string_view strong_validator(const Entry& entry);

// Whether the field is a checksum of the content of one message (RFC 9530 2, RFC 1864), which does
// not fit another part or the whole.
bool is_of_whole_content(const http::Field& line);

// The bytes of the representation that a stored response contains. An empty body counts as one
// byte.
http::ByteRange range_of_body(const Entry& entry);
// Whether a part contains all the bytes that it states. A shorter part is reused only for the bytes
// that it has: its complete length is unknown, and it is never combined (combine.hpp).
bool is_as_said(const Entry& entry);
// The length of the whole representation, if known.
std::optional<std::uint64_t> complete_length(const Entry& entry);

// Whether a range may be taken from this entry: there is no If-Range, or If-Range names this
// version by strong comparison or by exactly its date (RFC 9110 13.1.5).
bool meets_if_range(const RangeFacts& request, const Entry& entry);
// What the Range of a GET selects from a stored response, after the client's other conditions (RFC
// 9110 13.2.2). The result is `whole` if If-Range names another version, if the response is an
// error, or if there is more than one Range field. For a stored part, `whole` means that it lacks
// requested bytes and cannot answer.
http::Selection parts_wanted(const RangeFacts& request, const Entry& entry);
// Whether the stored response contains what this request wants (RFC 9111 3.3).
inline bool covers(const RangeFacts& request, const Entry& entry) {
  return !entry.is_part() || parts_wanted(request, entry).kind == http::Selection::Kind::parts;
}

// The text of a 206 around its parts.
struct PartialText {
  std::string head;                   // status line and fields, like Entry::head
  std::vector<std::string> openings;  // before each part; empty for a single one
  std::string closing;                // after the last
};

// The body of a 206: the bytes of one part, or several parts as multipart/byteranges. Positions
// count in the whole representation. The author of the content must not be able to predict
// `boundary`.
PartialText partial_text(const Entry& entry, const http::ByteRanges& parts,
                         std::string_view boundary);

// Whether the client's condition (If-None-Match, else If-Modified-Since) selects a 304 for this
// entry (RFC 9110 13.2.2). `request` holds the client's fields.
bool is_unmodified_for(const http::Fields& request, const Entry& entry, Time now);

// The status line and the fields of the 304, a CRLF after each. Omits fields that describe content
// which the client already has (Content-Type, -Encoding, -Language, -Range, digests). Some clients
// refuse their own copy without Last-Modified, so this has it beside an ETag, too (RFC 9110
// 15.4.5). The sender adds Age and Cache-Status.
std::string not_modified_head(const Entry& entry);

}  // namespace proxy::cache
