// Whether the bytes that a request wants of an object are stored.
#pragma once

#include <cstdint>

#include "digest/key.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

struct FetchAccess;

enum class Presence : std::uint8_t {
  stored,     // every byte of the answer is stored, or the answer has no body
  under_way,  // every missing block is being fetched for other requests
  missing,    // at least one block is neither stored nor being fetched
};

// `key`: of the object's URL. If the first bytes of a range will do (peers::kPartField), asks for
// no more than these. Looks at memory, the disk's index and the runs; reads nothing.
Presence presence(const FetchAccess& access, const Request& request, const digest::Key& key,
                  const cache::Entry& object);

// The parts of the object that the request's Range selects; all of it without one.
http::Selection parts_wanted(const Request& request, const cache::Entry& object);

// The ranges whose bytes the answer has: none in an answer to HEAD, a 304 or a 416.
http::ByteRanges ranges_of(const Request& request, const cache::Entry& object,
                           const http::Selection& wanted, bool unmodified);

// If the first bytes of one range that was asked for will do, cuts it where the first block is
// missing. Leaves it as it is if that is the first of its blocks.
void cut_to_stored(const FetchAccess& access, const Request& request, const digest::Key& key,
                   const cache::Entry& object, const http::Selection& wanted,
                   http::ByteRanges& ranges);

}  // namespace proxy
