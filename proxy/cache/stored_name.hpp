// What responses are stored as.
#pragma once

#include <string_view>

namespace proxy::cache {

// Those of reverse mode have this before their URL: no scheme that a client's URL may have.
inline constexpr std::string_view kReverseSpace = "reverse:";

// The URL itself, of either space.
constexpr std::string_view url_in(std::string_view stored_name) {
  if (stored_name.starts_with(kReverseSpace)) stored_name.remove_prefix(kReverseSpace.size());
  return stored_name;
}

}  // namespace proxy::cache
