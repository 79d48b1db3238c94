// The globs over paths that settings may have: "*.deb", "/pool/*".
#pragma once

#include <cstddef>
#include <string_view>

namespace config {

// The most bytes of a glob besides `*`: the matcher keeps a bit for each (proxy/policy/path_glob).
inline constexpr std::size_t kMostPlaces = 63;

// Whether a rule's `paths` may have this text: it begins with `/` or `*`, has at most 128 bytes,
// and at most kMostPlaces once it is spelled as in a URL.
bool is_path_glob(std::string_view text);

}  // namespace config
