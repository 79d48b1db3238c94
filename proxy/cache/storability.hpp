// Why a response is not stored. Cache-Status, the access log and /metrics name the same reasons.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace proxy::cache {

enum class Storability : std::uint8_t {
  yes,

  // The next ones: the request alone decides so (storability_for()).
  method,  // only responses to GET are stored
  site,    // the settings forbid it: a rule, or its max_fresh
  request_no_store,
  for_origin,  // see RequestFacts::for_origin

  // The next reasons lie in the response (RFC 9111 3).
  status,   // not final, not cacheable without explicit freshness, or must-understand with an
            // unknown status
  partial,  // a 304, a 416, a 206 that is not exactly one part, or a 200 with Content-Range
  no_store,
  private_,       // unqualified; if it names fields, the response is stored without them
  authorization,  // without public, must-revalidate or s-maxage (3.5); or it may be about the
                  // credentials: see RequestFacts::open_to_all
  vary_star,
  // The values of the request fields that Vary names have more than http::NormalForms::kMostBytes
  // together. That says nothing about the responses to other requests.
  vary_too_long,
  set_cookie,  // see may_store_cookie()
  // The next four: the response could only be used after validation, and nothing can validate it.
  no_cache,
  no_lifetime,  // it states no freshness, and there is nothing to guess it from
  max_age,      // s-maxage=0 or max-age=0
  expired,      // by Expires, or by its age on arrival

  // The next ones: this cache decides so, though the response may be stored.
  duplicate,   // a neighbour has it close at hand (setting digest.duplicates)
  too_large,   // larger than cache.max_object, or than memory and disk keep
  no_room,     // nothing was left to evict, or the disk did not take it
  several,     // a body that several sources gave, and an entry names only one
  incomplete,  // the body was cut
  outdated,    // the URL was purged or invalidated while the response arrived
};
inline constexpr std::size_t kStorabilities = 23;

// "no-store": the word in `not-stored/no-store`. "yes" for `yes`.
constexpr std::string_view text(Storability storability) {
  // The words of all reasons, in the order of the enumerators.
  using Words = std::array<std::string_view, kStorabilities>;
  constexpr Words kWords{"yes",
                         "method",
                         "rule",
                         "request-no-store",
                         "for-origin",
                         "status",
                         "partial",
                         "no-store",
                         "private",
                         "authorization",
                         "vary",
                         "vary-too-long",
                         "set-cookie",
                         "no-cache",
                         "no-lifetime",
                         "max-age",
                         "expired",
                         "duplicate",
                         "too-large",
                         "no-room",
                         "several-sources",
                         "incomplete",
                         "outdated"};
  return kWords[static_cast<std::size_t>(storability)];
}

}  // namespace proxy::cache
