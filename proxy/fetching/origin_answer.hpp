// A question to the origin, and the meaning of the answer to that question. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "proxy/cache/judge.hpp"
#include "proxy/http/range.hpp"
#include "proxy/policy/request.hpp"

namespace proxy::fetching {

// Which range the origin is asked for.
enum class RangeAsked : std::uint8_t {
  any,         // perhaps another one than the client's
  as_it_came,  // the client's own, and none around it
  again,       // the client's own, since another one was of no use
};

struct OriginQuestion {
  cache::Verdict how;  // fetch, revalidate or complete
  // The stored response that may be validated, completed or stand in; or null.
  cache::Ref<const cache::Entry> stored;
  std::optional<http::AskedRange> range_override = {};  // asked for in place of the client's range
  std::string tags = {};  // to revalidate: the tag of `stored`, and perhaps the client's tags
  RangeAsked range = RangeAsked::any;
  enum class Way : std::uint8_t { by_route, directly } way = Way::by_route;  // if it is allowed

  // Whether the origin is asked for another range than the client asks for: the blocks around it,
  // the rest of a stored part, or the same range without the client's If-Range. A failure may then
  // have our range as its cause, so a failure is never the client's answer.
  [[nodiscard]] bool changes_range(const cache::RequestFacts& client) const;

  // The next question after an answer that does not fit the stored response: the same question
  // without conditions.
  [[nodiscard]] OriginQuestion anew() const;
  // As anew(), and drops the stored response, which is of no use any more.
  [[nodiscard]] OriginQuestion without_stored() const;
  // The client's own question, after a range that is not the client's got an answer of no use.
  [[nodiscard]] OriginQuestion as_the_client_asked() const;
  // As anew(), without the client's ranges: the whole answers them, too (RFC 9110 14.2).
  [[nodiscard]] OriginQuestion for_all() const;
  // The same question, which no parent may answer from its cache.
  [[nodiscard]] OriginQuestion past_parents() const;
  // As past_parents(), after a parent has given a wrong body: the origin itself is asked, if it may
  // be asked directly.
  [[nodiscard]] OriginQuestion after_wrong_parent() const;
};

// The meaning of the origin's answer. Each value has a writer of its own, or a next question.
enum class OriginSays : std::uint8_t {
  unmodified,        // 304: validates the stored response
  unmodified_there,  // 304: validates the client's response, which is not the stored one
  unmodified_other,  // 304: about a response that neither the client nor the cache holds
  rest,              // 206: exactly the missing bytes of the stored part or begun object
  not_the_rest,      // the stored part cannot be completed with this answer
  unasked,           // 304 without our condition, or 206 without our range: a breach of HTTP
  declined,          // neither a part nor the whole, where the client asked for another range
  several_refused,   // 416 or 501 to several ranges, which this storage never gives at once
  error,             // a stored response may stand in for this one (RFC 5861 4)
  response,          // the client's answer
};
OriginSays said_by(const http::ResponseHead& answer, const OriginQuestion& asked,
                   const policy::Request& request);

// Whether the origin refuses several ranges as such, where it may grant one. A 416 may also say
// that all of them are behind the end.
bool refuses_several(const http::ResponseHead& answer, const cache::RequestFacts& facts);

// Whether the client has a newer version of a growing file than the cache of the neighbour that
// gave the answer. A sibling does not get the client's If-None-Match. `length`: of the answer's
// body.
bool is_behind_client(const http::ResponseHead& answer, std::optional<std::uint64_t> length,
                      const policy::Request& request);

// The bytes that the client gets when the answer is joined to the stored part; nothing if the two
// may not be joined.
std::optional<http::ContentRange> joined_with_stored(const http::ResponseHead& answer,
                                                     const OriginQuestion& asked,
                                                     const policy::Request& request);

// Whether the origin's answer may be stored. A part that answers the client's own If-Range may not,
// because it may lack most of its head (RFC 9110 15.3.7).
cache::Storability storability_of(const http::ResponseHead& answer, const OriginQuestion& asked,
                                  const policy::Request& request, const cache::Times& times,
                                  const http::CacheControl& control);

// Whether an answer that is not stored shows the stored response to be outdated. A refusal, an
// error, most parts, and a private response say nothing of the stored response.
bool replaces_stored(unsigned status, cache::Storability storability);

}  // namespace proxy::fetching
