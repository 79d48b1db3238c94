// The rest of a body whose source has failed, from another source.
#pragma once

#include <cstdint>

#include "proxy/fetching/body_writer.hpp"

namespace proxy {

// Which sources may supply the rest: the neighbours that claim the URL, and after them the origin.
enum class RestFrom : std::uint8_t { neighbours, neighbours_and_origin };

// Call this after writer.write() has failed with `cut`. Appends the rest from the first source that
// provably has the same representation, by a strong validator (RFC 9110 13.1.5); else returns
// `cut`. If that source fails, too, returns its failure.
net::Task<Outcome<void>> write_rest(FillContext& context, BodyWriter& writer, Failure cut,
                                    RestFrom sources);

}  // namespace proxy
