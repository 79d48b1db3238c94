// HTML pages with other links in their anchors, byte for byte as they were otherwise.
#pragma once

#include <string>

#include "proxy/mirrors/links.hpp"

namespace proxy::mirrors {

// Gives each anchor the link that stands in place of its `href` (the first one, as browsers read
// it), with its character references decoded and encoded again. An empty comment replaces each
// `<base>`: relative links would lead past the mirror. Reads tags, comments, and the text of
// elements such as `<script>` as browsers do (HTML, 13.2.5), and changes nothing within the latter
// two.
//
// False, and the page stays as it is, if a tag or a comment does not end, or if the page has too
// many links (Edits).
bool change_anchors(std::string& html, const LinkTo& link);

}  // namespace proxy::mirrors
