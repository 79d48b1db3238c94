// A question to the origin, and the meaning of the answer to that question. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "proxy/cache/policy.hpp"
#include "proxy/http/range.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

struct OriginQuestion {
  cache::Verdict how;                        // fetch, revalidate or complete
  std::shared_ptr<const cache::Entry> held;  // to be validated, completed, or to stand in; or null
  std::optional<http::AskedRange> range_override = {};  // asked for in place of the client's range
  std::string tags = {};  // for a revalidation: the tag of `held`, perhaps the client's tags, too

  // The next question after an answer that does not fit the held response: unconditional.
  [[nodiscard]] OriginQuestion anew() const;
  // As anew(), if the held response is of no use any more.
  [[nodiscard]] OriginQuestion without_held() const;
  // The next question after an answer to `range_override` that does not settle the client's own
  // range.
  [[nodiscard]] OriginQuestion as_the_client_asked() const;
};

// The meaning of the origin's answer. Each value has a writer of its own, or a next question.
enum class OriginSays : std::uint8_t {
  unmodified,        // 304: validates the held response
  unmodified_there,  // 304: validates the client's response, which is not the held one
  unmodified_other,  // 304: about a response that neither the client nor the cache holds
  rest,              // 206: exactly the missing bytes of the held part or begun object
  not_the_rest,      // the held part cannot be completed with this
  unasked,           // 304 or 206 without a condition or a range: not HTTP
  beyond_the_end,    // 416 to the range override, though the client asked for earlier bytes too
  error,             // a held response may stand in for this one (RFC 5861 4)
  response,          // the client's answer
};
OriginSays said_by(const http::ResponseHead& answer, const OriginQuestion& asked,
                   const Request& request);

// Which bytes the client gets when the answer is joined to the held part; nothing if it may not be
// joined.
std::optional<http::ContentRange> joined_with_held(const http::ResponseHead& answer,
                                                   const OriginQuestion& asked,
                                                   const Request& request);

// Whether the origin's answer may be stored. A part that answers the client's own If-Range is not
// stored: it may lack most of its head (RFC 9110 15.3.7).
cache::Storability storability_of(const http::ResponseHead& answer, const OriginQuestion& asked,
                                  const Request& request, const cache::Times& times,
                                  http::Targets targets);

// Whether an answer that is not stored shows the stored response to be outdated. A refusal, an
// error, most parts, and a private response say nothing of the stored response.
bool replaces_stored(unsigned status, cache::Storability storability);

}  // namespace proxy
