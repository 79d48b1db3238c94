// How old a response is and how long it stays fresh (RFC 9111 4.2). Pure: time is an argument.
#pragma once

#include <chrono>
#include <cstdint>

#include "proxy/http/cache_control.hpp"
#include "proxy/http/head.hpp"

namespace proxy::cache {

using std::chrono::seconds;
using Time = std::chrono::system_clock::time_point;

// When a response was asked for and when its head had arrived.
struct Times {
  Time request;
  Time response;
};

struct Freshness {
  enum class Basis : std::uint8_t { none, heuristic, expires, max_age, s_maxage };

  Basis basis = Basis::none;
  seconds lifetime{0};  // 0..http::kForever

  bool is_explicit() const { return basis > Basis::heuristic; }
};

// What the settings say of a site's freshness lifetimes.
// - `most` bounds every one of them.
// - `least` lifts those that are shorter, whatever max-age, Expires or the heuristic say, as
// Squid's
//   refresh_pattern does with override-expire: to serve it then is to serve it stale by contract
//   (RFC 9111 4.2.4). So it lifts nothing that forbids that (see forbids_stale()), no error, and no
//   response that has no lifetime at all, as its status is not cacheable. It says nothing of what
//   may be stored: no-store, private, Authorization and Set-Cookie count as before.
struct FreshnessBounds {
  seconds least{0};
  seconds most = http::kForever;

  bool operator==(const FreshnessBounds&) const = default;
};

// s-maxage over max-age over Expires (any date that cannot be read is past) over the heuristic of
// 4.2.2: 10 % of the age that Last-Modified tells, at most a day, for statuses that are cacheable
// by default or where `public` allows it. Expires counts for nothing under targeted control (RFC
// 9213 2.2), and is past where two lines differ.
Freshness freshness_of(const http::ResponseHead& response, const http::CacheControl& control,
                       Time response_time, const FreshnessBounds& bounds = {});

// must-revalidate, proxy-revalidate, s-maxage or no-cache (4.2.4).
bool forbids_stale(const http::CacheControl& control);

// Whether this is a final status whose rules we know (RFC 9110 15): what must-understand asks.
bool understood(unsigned status);

// Whether RFC 9110 15.1 lets a response of this status be cached without explicit leave.
bool heuristically_cacheable(unsigned status);

// corrected_initial_age of 4.2.3. Of several Age values the first counts; one that is not a number
// is ignored, one too large is as old as can be. A clock that is ahead never makes it younger.
std::chrono::milliseconds initial_age(const http::Fields& response, const Times& times);

}  // namespace proxy::cache
