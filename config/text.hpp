// Text as settings spell it: characters, quantities, and what a typing mistake may have meant.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/settings.hpp"

namespace config {

// A tchar of RFC 9110 section 5.6.2.
bool is_token_char(char c);
bool is_token(std::string_view text);

// A byte that a terminal may act upon: the control characters of ASCII.
bool is_control(char c);
bool has_control(std::string_view text);

// Whether a user may have this name: 1 to 255 bytes, without control characters, and without a
// colon, which ends the name in the file of users.
bool is_user_name(std::string_view text);

std::string lower_case(std::string_view text);

// The text without these characters at its ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " ");

// Removes the text up to the mark, and the mark, from the front of `text`. Returns it without the
// mark; all of the text if there is none.
std::string_view take_until(std::string_view& text, char mark);

// The bytes of the first character of a text in UTF-8 (RFC 3629). 0: it is none.
std::size_t utf8_length(std::string_view text);

// A number of decimal digits only, at most `most`; no sign, no blank.
std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t most);

// "256MiB" or "256M": a number followed by B, KiB, MiB, GiB or TiB, or by K, M, G or T, which mean
// the same powers of 1024.
std::optional<ByteSize> parse_bytes(std::string_view text);
// "250ms": a number followed by ms, s, m, h, d or w; at most a hundred years.
std::optional<milliseconds> parse_duration(std::string_view text);

// Writes the value in the largest of B to TiB, or of ms to d, that is exact.
std::string to_text(ByteSize size);
std::string to_text(milliseconds time);
// The time for a person, rounded down: seconds up to ten minutes ("312 s"), minutes below two
// hours, hours below two days, and days ("30 days"). The time is not negative.
std::string rough_text(std::chrono::seconds time);

// "9.8 KiB": a size for people, rounded; at most 8 characters.
std::string short_size(std::uint64_t bytes);

// Replaces the bytes that a terminal would act upon, and cuts the text after `most` characters.
std::string printable(std::string_view text, std::size_t most);
std::string in_quotes(std::string_view text);  // printable, at most 60 characters

// The candidate that `text` most likely means; empty if none is similar.
std::string_view nearest(std::string_view text, std::span<const std::string_view> candidates);

}  // namespace config
