// HTTP dates (RFC 9110 5.6.7): all three formats are read, IMF-fixdate is written.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace proxy::http {

// Strict in form, in any case (RFC 9111 4.2), each number in its range; a leap second counts as the
// second before. Whether the weekday fits the date is not looked at. `now` decides the century of a
// two-digit year in the RFC 850 format: one that would be more than 50 years ahead is the past one.
std::optional<std::chrono::sys_seconds> parse_date(std::string_view text,
                                                   std::chrono::sys_seconds now);

// "Sun, 06 Nov 1994 08:49:37 GMT". For years 0 to 9999; others are clamped to them.
std::string format_date(std::chrono::sys_seconds time);

}  // namespace proxy::http
