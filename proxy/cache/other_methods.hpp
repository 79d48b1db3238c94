// The effects of responses to other methods than GET on the stored responses to GET. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "proxy/cache/judge.hpp"
#include "proxy/http/target.hpp"

namespace proxy::cache {

// What a response to HEAD says about the stored response to GET (RFC 9111 4.3.5).
enum class HeadSays : std::uint8_t {
  nothing,    // a refusal, an error, or a response that may differ between users
  unchanged,  // its fields replace the stored ones, like those of a 304: see freshen()
  changed,    // the stored response is outdated
};
HeadSays head_says(const RequestFacts& request, const http::ResponseHead& answer,
                   const Entry& stored);

// The facts of a GET that would have had the same response.
RequestFacts as_get(const RequestFacts& request);

// A request by another method.
struct Posted {
  const http::RequestHead& head;
  const RequestFacts& facts;  // of the head
  const http::Target& target;
};
// Whether a response to POST may be stored as the response to a GET (RFC 9110 9.3.3): it has
// explicit freshness, and Content-Location states that a GET of this URL would return the response.
Storability may_store_posted(const Posted& asked, const http::ResponseHead& answer,
                             const Times& times, http::Targets targets);

// The URLs whose stored responses a cache must invalidate (RFC 9111 4.4): none for a safe method or
// an error response; else `target` first, then the URLs in Location and Content-Location if they
// have the same origin.
std::vector<http::Target> invalidated_by(std::string_view method, const http::Target& target,
                                         const http::ResponseHead& answer);

}  // namespace proxy::cache
