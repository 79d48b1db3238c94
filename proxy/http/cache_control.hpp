// The directives of Cache-Control, of a request or a response (RFC 9111 5.2).
#pragma once

#include <boost/container/small_vector.hpp>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy::http {

using seconds = std::chrono::seconds;

// RFC 9111 1.2.2: any number of seconds that is too large to represent counts as this value.
inline constexpr seconds kForever{2147483648};

// The directives that are times.
struct CacheTimes {
  std::optional<seconds> max_age;
  std::optional<seconds> s_maxage;
  std::optional<seconds> stale_while_revalidate;  // RFC 5861
  std::optional<seconds> stale_if_error;          // RFC 5861
  std::optional<seconds> min_fresh;
  std::optional<seconds> max_stale;  // kForever if it has no argument
};

// The directives that forbid something: they also apply with an argument or junk after them.
struct CacheLimits {
  using Names = boost::container::small_vector<std::string_view, 2>;

  bool no_store = false;
  bool no_cache = false;  // the unqualified form
  bool private_ = false;  // the unqualified form
  bool must_revalidate = false;
  bool proxy_revalidate = false;
  bool no_transform = false;
  bool only_if_cached = false;

  // The fields named by no-cache="a, b" and private="a, b". A cache may not reuse the former
  // without validation; a shared cache may not store the latter. If a directive names a field
  // without which the rest would mean something else (Content-Encoding, Vary, ETag, ...), it counts
  // as unqualified.
  Names no_cache_fields;
  Names private_fields;
};

// The directives that allow something or lift another directive: they apply only in exactly the
// specified form.
struct CacheGrants {
  bool public_ = false;
  bool immutable = false;
  bool must_understand = false;
};

// If a directive occurs twice, its most restrictive value applies. A value that is not
// delta-seconds (junk, a sign, a decimal, single quotes, nothing) counts as the most restrictive
// value, not as absent. Extensions are skipped together with their quoted arguments. Views point
// into the bytes of the fields.
struct CacheControl : CacheTimes, CacheLimits, CacheGrants {
  bool present = false;   // there is a Cache-Control field, even one with only unknown directives
  bool targeted = false;  // the directives are from a targeted field, so Expires is ignored
};

// The directives of all Cache-Control lines. If a quote never closes, the meaning is unknown, and
// the whole counts as no-store.
CacheControl cache_control(const Fields& fields);

// The names of targeted fields (RFC 9213) for this cache, in order of precedence.
using Targets = std::span<const std::string>;

// The directives of a response for this cache: those of the first target that is present and valid,
// else those of Cache-Control. A targeted field is a dictionary (RFC 8941), read strictly. It
// counts as absent if it is malformed or empty, or if one of our directives has a value of another
// type. If a directive occurs twice the last one applies, `?0` unsets it, and parameters are
// ignored.
CacheControl response_cache_control(const Fields& fields, Targets targets);

// The directives of a request. `Pragma: no-cache` applies only without Cache-Control (RFC 9111
// 5.4).
CacheControl request_cache_control(const Fields& fields);

// Delta-seconds (RFC 9111 1.2.2), at most kForever. Returns nothing unless the text is digits only.
std::optional<seconds> parse_delta_seconds(std::string_view text);

}  // namespace proxy::http
