// The rest of a body whose source has failed, from another source.
#pragma once

#include <cstdint>

#include "proxy/fetching/body_writer.hpp"

namespace proxy {

// Which sources may supply the rest: the neighbours that claim the URL, and after them the origin.
enum class RestFrom : std::uint8_t { neighbours, neighbours_and_origin, origin };

// Call this after writer.write() has failed with `cut`. Appends the rest from sources that provably
// have the same representation: neighbours by a strong entity tag, the origin by any strong
// validator (RFC 9110 13.1.5). If there is none, or the last one fails, returns the failure.
net::Task<Outcome<void>> write_rest(FillContext& context, BodyWriter& writer, Failure cut,
                                    RestFrom sources);

}  // namespace proxy
