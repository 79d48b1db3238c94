// Lines of HTTP/1.1 that make a difference to a caching proxy.
#pragma once

#include <span>
#include <string_view>

namespace fuzz {

// "Name: value", without CRLF.
std::span<const std::string_view> field_lines();
// The front of a request line or of a status line, up to the blank: methods, and statuses with
// their version.
std::span<const std::string_view> methods();
std::span<const std::string_view> statuses();

// Lines that describe the representation of a response, so that two of a name contradict each
// other.
std::span<const std::string_view> descriptions();

}  // namespace fuzz
