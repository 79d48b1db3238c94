// Whether an answer has the blocks that were asked for.
#pragma once

#include <cstdint>

#include "proxy/cache/entry.hpp"
#include "proxy/http/framing.hpp"

namespace proxy {

// What an answer means for a request that asks for one range of an object, provided that the object
// is unchanged.
enum class Fit : std::uint8_t {
  range,    // exactly that range
  whole,    // the whole object: the source ignores ranges, for whatever reason
  changed,  // the source has another version: the stored one is outdated
  refused,  // the answer says nothing about the stored version
};
// Pure.
Fit fit_of(const http::ResponseHead& answer, const http::Framing& framing,
           const cache::Entry& object, const http::ByteRange& asked);

// Whether the part has the first whole blocks of the range, and lacks the rest. Pure.
bool is_first_of(const http::ContentRange& part, const http::AskedRange& asked);

}  // namespace proxy
