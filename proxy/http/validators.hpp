// Entity tags and conditional requests (RFC 9110 8.8, 13).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy::http {

struct EntityTag {
  std::string_view opaque;  // what stands between the quotes
  bool weak = false;
};

// `"x"` or `W/"x"` and nothing else.
std::optional<EntityTag> parse_entity_tag(std::string_view text);

// RFC 9110 8.8.3.2. Strong: neither may be weak. What is no entity tag equals nothing.
bool strongly_equal(std::string_view a, std::string_view b);
// Also takes tags whose quotes were forgotten, on either side, as long as they are the same text.
bool weakly_equal(std::string_view a, std::string_view b);

// `own` and, behind it, those tags of the request's If-None-Match that are entity tags and not the
// same: one condition for both (RFC 9111 4.3.1). `own` alone where it is no entity tag itself.
std::string joined_tags(std::string_view own, const Fields& request);

// What a stored response can be told apart by.
struct StoredValidators {
  std::string_view etag;                                  // the ETag field's value; empty: none
  std::optional<std::chrono::sys_seconds> last_modified;  // else Date (RFC 9111 4.3.2), else none
};

// False where ETag or Last-Modified is there in lines that differ: nobody can tell which one holds.
bool agrees_on_validators(const Fields& response);

// Whether a GET or HEAD request's own conditions are met by what is stored, so that the answer is
// 304: If-None-Match by weak comparison if it is there, else If-Modified-Since (RFC 9110 13.2.2).
// False when there is no condition, or one that cannot be read.
bool not_modified(const Fields& request, const StoredValidators& stored,
                  std::chrono::sys_seconds now);

// Whether the request has conditions other than those (If-Match, If-Unmodified-Since): a cache
// leaves these to the origin.
bool has_write_condition(const Fields& request);

}  // namespace proxy::http
