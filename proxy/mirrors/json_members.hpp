// JSON texts without some of their members, byte for byte as they were otherwise.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace proxy::mirrors {

// The text without the members of these names, in objects at any depth: the other bytes stay, in
// their order and spelling, so that clients see the same numbers and white space. Names are
// compared as the text spells them, without unescaping.
//
// Nothing if the text is no JSON (RFC 8259), or nests deeper than 128 objects and arrays.
std::optional<std::string> without_members(std::string_view json,
                                           std::span<const std::string> names);

}  // namespace proxy::mirrors
