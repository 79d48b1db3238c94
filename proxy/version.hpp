// The name and the version of this program, as others learn them.
#pragma once

#include <string_view>

namespace proxy {

inline constexpr std::string_view kVersion = HEARSAY_VERSION;
inline constexpr std::string_view kProduct = "Hearsay/" HEARSAY_VERSION;

}  // namespace proxy
