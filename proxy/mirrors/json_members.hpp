// JSON texts without some of their members, byte for byte as they were otherwise.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace proxy::mirrors {

// Drops the members of these names from the text, in objects at any depth: the other bytes stay, in
// their order and spelling, so that clients see the same numbers and white space. Names are
// compared as the text spells them, without unescaping. Takes no memory of its own, since texts may
// be long.
//
// False, and the text stays as it is, if it is no JSON (RFC 8259), or nests deeper than 128 objects
// and arrays.
bool drop_members(std::string& json, std::span<const std::string> names);

}  // namespace proxy::mirrors
