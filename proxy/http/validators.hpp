// Entity tags and conditional requests (RFC 9110 8.8, 13).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy::http {

struct EntityTag {
  std::string_view opaque;  // the text between the quotes
  bool weak = false;
};

// Reads `"x"` or `W/"x"` and nothing else.
std::optional<EntityTag> parse_entity_tag(std::string_view text);

// RFC 9110 8.8.3.2. Strong comparison: neither tag may be weak. Text that is not an entity tag
// equals nothing.
bool strongly_equal(std::string_view a, std::string_view b);
// Compares two entity tags weakly (RFC 9110 8.8.3.2). Accepts tags without quotes, on either side,
// if the text is the same.
bool weakly_equal(std::string_view a, std::string_view b);

// Whether the value of If-None-Match is "*" or lists the tag, by weak comparison.
bool names_tag(std::string_view none_match, std::string_view etag);

// `own`, followed by the other entity tags of the request's If-None-Match: one condition for both
// (RFC 9111 4.3.1). Returns only `own` if `own` is not an entity tag.
std::string joined_tags(std::string_view own, const Fields& request);

// The validators of a stored response.
struct StoredValidators {
  std::string_view etag;                                  // the value of ETag; empty: none
  std::optional<std::chrono::sys_seconds> last_modified;  // else Date (RFC 9111 4.3.2), else none
};

// False if several ETag lines or several Last-Modified lines differ, since the right one is
// unknown.
bool agrees_on_validators(const Fields& response);

// Whether the conditions of a GET or HEAD request select a 304 for the stored response:
// If-None-Match by weak comparison if present, else If-Modified-Since (RFC 9110 13.2.2). False
// without a condition, or with one that cannot be read.
bool not_modified(const Fields& request, const StoredValidators& stored,
                  std::chrono::sys_seconds now);

// Whether the request has If-Match or If-Unmodified-Since, conditions that a cache leaves to the
// origin.
bool has_write_condition(const Fields& request);

}  // namespace proxy::http
