// What answers to HEAD and POST mean for what a GET finds. Pure.
#pragma once

#include "proxy/cache/policy.hpp"
#include "proxy/http/target.hpp"

namespace proxy::cache {

// What an answer to HEAD tells of the stored answer to a GET (RFC 9111 4.3.5).
enum class HeadSays : std::uint8_t {
  nothing,    // a refusal, an error, or what may be different for another user
  unchanged,  // its fields replace those that are stored, as a 304's do: see freshen()
  changed,    // what is stored is out of date
};
HeadSays head_says(const RequestFacts& request, const http::ResponseHead& answer,
                   const Entry& stored);

// The facts under which a GET would have brought the same answer.
RequestFacts as_get(const RequestFacts& request);

// Whether an answer to POST may be kept as that to a GET (RFC 9110 9.3.3): it says how long it is
// fresh, and Content-Location that it is what a GET of this URL would bring.
// `facts` are those of `request`.
Storability may_store_posted(const http::RequestHead& request, const RequestFacts& facts,
                             const http::Target& target, const http::ResponseHead& answer,
                             const Times& times, http::Targets targets);

}  // namespace proxy::cache
