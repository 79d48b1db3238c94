// HTTP dates (RFC 9110 5.6.7). Reads all three formats, writes IMF-fixdate.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy::http {

// Strict about the format but not about case (RFC 9111 4.2); every number must be in range. A leap
// second counts as the second before it. The weekday is not compared with the date. `now` decides
// the century of a two-digit year in the RFC 850 format: a date more than 50 years ahead is taken
// as past.
std::optional<std::chrono::sys_seconds> parse_date(std::string_view text,
                                                   std::chrono::sys_seconds now);

// How long the sender of these fields wants to be left alone (Retry-After, RFC 9110 10.2.3): at
// most a day. A date counts from the sender's own Date; without one, and if the value is malformed,
// the result is nothing.
std::optional<std::chrono::seconds> retry_after(const Fields& fields);

// "Sun, 06 Nov 1994 08:49:37 GMT". Years are clamped to 0 to 9999.
std::string format_date(std::chrono::sys_seconds time);

}  // namespace proxy::http
