// The rest of a body whose source has failed, from another source.
#pragma once

#include <cstdint>

#include "proxy/fetching/body_writer.hpp"
#include "proxy/sources/claimant_search.hpp"

namespace proxy::fetching {

// Which sources may supply the rest: the neighbours that claim the URL, and after them the origin.
enum class RestFrom : std::uint8_t { neighbours, neighbours_and_origin, origin };

// Call this after writer.write() has failed with `cut`. Appends the rest from sources that provably
// have the same representation: neighbours by a strong entity tag, the origin by any strong
// validator (RFC 9110 13.1.5). If there is none, or the last one fails, returns the failure.
net::Task<upstream::Outcome<void>> write_rest(FillContext& context, BodyWriter& writer,
                                              upstream::Failure cut, RestFrom sources);

// Call this with the result of writer.write(). If a neighbour that fetches the body itself is
// silent, waits for it as long as for an origin (timeouts.body), and asks the origin for the rest
// meanwhile. The first to go on supplies the rest, and writer.attempt() is its attempt; a neighbour
// that has lost is noted. Returns how writing has ended; `written`, if no neighbour is silent.
// `idle`: the silence after which the origin is asked.
net::Task<upstream::Outcome<void>> outlast_silence(FillContext& context,
                                                   sources::ClaimantSearch& search,
                                                   BodyWriter& writer,
                                                   upstream::Outcome<void> written,
                                                   std::chrono::milliseconds idle);

}  // namespace proxy::fetching
