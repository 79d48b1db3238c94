// How old a response is and how long it stays fresh (RFC 9111 4.2). Pure: time is an argument.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "proxy/http/cache_control.hpp"
#include "proxy/http/head.hpp"

namespace proxy::cache {

using std::chrono::seconds;
using Time = std::chrono::system_clock::time_point;

// When a request was sent and when the head of its response arrived, by the clock that ages follow
// (machine/clock.hpp).
struct Times {
  Time request;
  Time response;
  std::chrono::milliseconds ahead{0};  // wall time less `response`

  // The wall time of the response, with which its Date is compared.
  [[nodiscard]] Time arrived() const { return response + ahead; }
};

struct Freshness {
  enum class Basis : std::uint8_t { none, heuristic, expires, max_age, s_maxage };

  Basis basis = Basis::none;
  seconds lifetime{0};  // 0..http::kForever

  bool is_explicit() const { return basis > Basis::heuristic; }
};

// The bounds that the settings set to the freshness lifetimes of a site. `most` is an upper bound
// for all lifetimes.
//
// `least` raises shorter lifetimes, whatever max-age, Expires or the heuristic say, as
// refresh_pattern with override-expire does in Squid: the response is then served stale by contract
// (RFC 9111 4.2.4). It therefore does not apply to responses that forbid that (see
// forbids_stale()), to errors, or to responses that have no lifetime at all because their status is
// not cacheable. It does not change what may be stored: no-store, private, Authorization and
// Set-Cookie apply as before.
//
// `errors` is the lifetime of responses that are errors and state no lifetime: of those with a
// status that RFC 9110 15.1 allows caches to store unasked, 404, 405, 410, 414 and 501. Other
// errors are stored only if they state a lifetime: above all a 5xx, which may end at any moment,
// and which a stale response can stand in for (RFC 5861). What forbids a cache to store or to reuse
// a response forbids it here as well.
//
// `by_class`: the settings know better than the origin for how long a response lasts, and that it
// is for everybody. It is then fresh for `least` from its arrival on, and of its directives only
// no-store counts, with the fields that private and no-cache name (see heeded()). Of other
// responses than successful ones, 404, 410 and 451 last for `errors`, and none else is stored.
struct FreshnessBounds {
  seconds least{0};
  seconds most = http::kForever;
  std::optional<seconds> errors = {};
  bool by_class = false;

  bool operator==(const FreshnessBounds&) const = default;
};

// The lifetime by s-maxage, else max-age, else Expires (an unreadable date counts as past), else
// `errors` of the bounds for an error, else the heuristic of 4.2.2: 10 % of the age by
// Last-Modified, at most a day, for statuses that are cacheable by default or if `public` allows
// it. Expires is ignored under targeted control (RFC 9213 2.2), and counts as past if two lines
// differ. `arrived`: see Times. `control`: what is heeded() of its directives.
Freshness freshness_of(const http::ResponseHead& response, const http::CacheControl& control,
                       Time arrived, const FreshnessBounds& bounds = {});

// The directives of a response that count within these bounds. Nothing: all of them count.
std::optional<http::CacheControl> heeded(const http::CacheControl& control,
                                         const FreshnessBounds& bounds);

// Whether there is a must-revalidate, proxy-revalidate, s-maxage or no-cache (4.2.4).
bool forbids_stale(const http::CacheControl& control);

// Whether this is a final status whose rules we know (RFC 9110 15), as must-understand requires.
bool understood(unsigned status);

// Whether RFC 9110 15.1 allows a response with this status to be cached without explicit
// permission.
bool heuristically_cacheable(unsigned status);

// corrected_initial_age of 4.2.3. The first of several Age values applies; one that is not a number
// is ignored, and one that is too large counts as the greatest age. A clock that is ahead never
// makes the response younger.
std::chrono::milliseconds initial_age(const http::Fields& response, const Times& times);

}  // namespace proxy::cache
