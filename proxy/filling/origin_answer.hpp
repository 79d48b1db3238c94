// What the origin is asked, and what its answer is to that question. Pure.
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
  std::string tags = {};  // that a revalidation names: of `held`, perhaps the client's as well

  // The next question where the origin has something else than what is held.
  [[nodiscard]] OriginQuestion anew() const;
  // The same where the held response is of no use at all any more.
  [[nodiscard]] OriginQuestion without_held() const;
  // The next question where the answer to `range_override` does not tell what the client's own
  // range gets.
  [[nodiscard]] OriginQuestion as_the_client_asked() const;
};

// What the origin's answer is; each has a writer of its own, or a next question.
enum class OriginSays : std::uint8_t {
  unmodified,        // 304: what is held is still good
  unmodified_there,  // 304: what the client holds is still good, and it is not what is held here
  unmodified_other,  // 304, of a response that neither holds
  rest,              // 206: just what the held part, or begun object, lacks
  not_the_rest,      // the held part cannot be completed with this
  unasked,           // 304 or 206 without a condition or a range: not HTTP
  beyond_the_end,    // 416 to the range override, though the client asked for earlier bytes too
  error,             // a held response may stand in for this one (RFC 5861 4)
  response,          // the client's answer
};
OriginSays said_by(const http::ResponseHead& answer, const OriginQuestion& asked,
                   const Request& request);

// Which bytes the client gets when the answer is joined to the part that is held; nothing where it
// may not be joined.
std::optional<http::ContentRange> joined_with_held(const http::ResponseHead& answer,
                                                   const OriginQuestion& asked,
                                                   const Request& request);

// Whether the origin's answer may be stored. A part that answers the client's own If-Range may lack
// most of its head (RFC 9110 15.3.7), and is not.
cache::Storability storability_of(const http::ResponseHead& answer, const OriginQuestion& asked,
                                  const Request& request, const cache::Times& times,
                                  http::Targets targets);

// Whether an answer that is not stored shows what was stored to be outdated. A refusal, an error,
// most parts, and what is for one user say nothing of the stored response.
bool replaces_stored(unsigned status, cache::Storability storability);

}  // namespace proxy
