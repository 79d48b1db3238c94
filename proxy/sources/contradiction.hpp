// Compares what a neighbour gave with what the origin says. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/cache/entry.hpp"
#include "proxy/http/head.hpp"

namespace proxy {

// Whether a difference between a neighbour's response and the origin's shows that the neighbour's
// never was the origin's. `length`: the complete length of the neighbour's, if known; `origin`: the
// head of the origin's answer to a plain GET; `origin_length`: of its body, if known.
//
// There are two such differences, and both compare only a 200 with a 200:
// - the same strong validator, but another length in the same encoding;
// - no validator in common, though the origin's Last-Modified is older than the neighbour's Date,
//   and Last-Modified or the length differs, too. The servers of one origin may make a tag each for
//   the same file, so another tag alone shows nothing.
// Every other difference may be a change at the origin since the neighbour has asked there.
bool contradicts(const http::ResponseHead& origin, std::optional<std::uint64_t> origin_length,
                 const cache::Entry& given, std::optional<std::uint64_t> length);

}  // namespace proxy
