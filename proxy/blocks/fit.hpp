// Whether an answer has the blocks that were asked for.
#pragma once

#include <cstdint>

#include "proxy/cache/entry.hpp"
#include "proxy/http/framing.hpp"

namespace proxy {

// What an answer is to a request for one range of an object, on the condition that the object has
// not changed.
enum class Fit : std::uint8_t {
  range,    // just that range
  whole,    // the whole object: the source knows no ranges, or has other reasons
  changed,  // another version: the stored one is of no more use
  refused,  // says nothing of the stored version
};
// Pure.
Fit fit_of(const http::ResponseHead& answer, const http::Framing& framing,
           const cache::Entry& object, const http::ByteRange& asked);

}  // namespace proxy
