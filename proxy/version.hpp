// What we call ourselves to others.
#pragma once

#include <string_view>

namespace proxy {

inline constexpr std::string_view kVersion = HEARSAY_VERSION;
inline constexpr std::string_view kProduct = "Hearsay/" HEARSAY_VERSION;

}  // namespace proxy
