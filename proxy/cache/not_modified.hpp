// What a 304 says that is made from a stored response (RFC 9110 15.4.5).
#pragma once

#include <string>

#include "proxy/cache/entry.hpp"

namespace proxy::cache {

// Its status line and the entry's fields, a CRLF after each, without those that describe content
// which the client has already (Content-Type, -Encoding, -Language, -Range, digests), and without
// Last-Modified where ETag tells the same better. The sender adds Age and Cache-Status.
std::string not_modified_head(const Entry& entry);

}  // namespace proxy::cache
