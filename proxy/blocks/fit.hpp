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

}  // namespace proxy
