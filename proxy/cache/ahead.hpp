// Clients that have a newer version of a file that grows than a cache has. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/cache/judge.hpp"

namespace proxy::cache {

// Whether the client names another version, and asks for bytes behind the end of the version with
// this ETag and complete length: its own is probably newer, and its range says nothing about this
// one. False if the length is unknown.
bool is_ahead(const RequestFacts& request, std::string_view etag,
              std::optional<std::uint64_t> length);

}  // namespace proxy::cache
