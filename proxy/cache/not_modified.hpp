// A 304 made from a stored response (RFC 9110 15.4.5): whether to send one, and its head. Pure.
#pragma once

#include <string>

#include "proxy/cache/entry.hpp"

namespace proxy::cache {

// Whether the client's own condition (If-None-Match, else If-Modified-Since) selects 304 for this
// entry (RFC 9110 13.2.2). `request`: the client's fields.
bool is_unmodified_for(const http::Fields& request, const Entry& entry, Time now);

// Its status line and the entry's fields, a CRLF after each, without those that describe content
// which the client has already (Content-Type, -Encoding, -Language, -Range, digests), and without
// Last-Modified where ETag tells the same better. The sender adds Age and Cache-Status.
std::string not_modified_head(const Entry& entry);

}  // namespace proxy::cache
