// What a size or a time that the settings do not accept was likely meant to say.
#pragma once

#include <string>
#include <string_view>

namespace config {

// Each returns the end of an error message, such as `; write "20GiB"`, or nothing if the text means
// nothing known. Safe on any bytes.
std::string size_hint(std::string_view text);      // of a text that parse_bytes() refuses
std::string duration_hint(std::string_view text);  // of a text that parse_duration() refuses

}  // namespace config
