// JSON texts without some of their members, or with other links in them, byte for byte as they were
// otherwise.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "proxy/mirrors/links.hpp"

namespace proxy::mirrors {

// Drops the members of these names from the text, in objects at any depth: the other bytes stay, in
// their order and spelling, so that clients see the same numbers and white space. Names are
// compared as the text spells them, without unescaping. Takes no memory of its own, since texts may
// be long.
//
// False, and the text stays as it is, if it is no JSON (RFC 8259), or nests deeper than 128 objects
// and arrays.
bool drop_members(std::string& json, std::span<const std::string> names);

// Gives the members of these names, in objects at any depth, the link that stands in place of their
// string. A name may have the name of the member around it: "dist.url". The digest of the bytes is
// the string of a member `archive_sha256` of the same object, or of `sha256` in its member
// `hashes`. Strings with escapes other than of slashes stay.
//
// False, and the text stays as it is, for the reasons above, or if it has too many links (Edits).
bool change_links(std::string& json, std::span<const std::string> names, const LinkTo& link);

}  // namespace proxy::mirrors
