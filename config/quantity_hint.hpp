// What a size or a time that the settings do not accept was likely meant to say.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "config/section.hpp"

namespace config {

// Each returns the end of an error message, such as `; write "20GiB"`, or nothing if the text means
// nothing known. What it says to write is within the range. Safe on any bytes.
// Of a text that parse_bytes() refuses:
std::string size_hint(std::string_view text, const Range<ByteSize>& range);
// Of a text that parse_duration() refuses:
std::string duration_hint(std::string_view text, const Range<std::chrono::milliseconds>& range);

}  // namespace config
