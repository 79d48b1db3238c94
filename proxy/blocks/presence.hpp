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

// One request for an object; all three outlive it.
struct AskedObject {
  const Request& request;
  const digest::Key& key;
  const cache::Entry& object;
};

// The ranges whose bytes the answer has, unless that is a 304: none in an answer to HEAD or in a
// 416. If the first bytes of one range will do (peers::kPartField), the range ends before its first
// missing block, unless its first block is missing.
http::ByteRanges ranges_of(const FetchAccess& access, const AskedObject& asked,
                           const http::Selection& wanted);

}  // namespace proxy
