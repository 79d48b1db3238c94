// Whether a client has a newer version of a growing file than a cache. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/cache/judge.hpp"

namespace proxy::cache {

// Whether the client names another version than the one with this ETag, and asks for bytes behind
// the end of the version with this ETag. The client's version is then probably newer, and the range
// is meant for the newer version. `length`: the complete length of the version with this ETag; if
// unknown, returns false.
bool is_ahead(const RequestFacts& request, std::string_view etag,
              std::optional<std::uint64_t> length);

}  // namespace proxy::cache
