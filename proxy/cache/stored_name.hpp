// The name under which a response is stored.
#pragma once

#include <string_view>

namespace proxy::cache {

// Prefix of the URLs of reverse mode. No URL of a client can have this scheme.
inline constexpr std::string_view kReverseSpace = "reverse:";

// The URL itself, with or without the prefix.
constexpr std::string_view url_in(std::string_view stored_name) {
  if (stored_name.starts_with(kReverseSpace)) stored_name.remove_prefix(kReverseSpace.size());
  return stored_name;
}

}  // namespace proxy::cache
