// A 304 made from a stored response (RFC 9110 15.4.5): whether to send one, and its head. Pure.
#pragma once

#include <string>

#include "proxy/cache/entry.hpp"

namespace proxy::cache {

// Whether the client's condition (If-None-Match, else If-Modified-Since) selects a 304 for this
// entry (RFC 9110 13.2.2). `request` holds the client's fields.
bool is_unmodified_for(const http::Fields& request, const Entry& entry, Time now);

// The status line and the fields of the 304, a CRLF after each. Omits Last-Modified if there is an
// ETag, and fields that describe content which the client already has (Content-Type, -Encoding,
// -Language, -Range, digests). The sender adds Age and Cache-Status.
std::string not_modified_head(const Entry& entry);

}  // namespace proxy::cache
