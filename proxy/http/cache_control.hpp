// The directives of Cache-Control, of a request or a response (RFC 9111 5.2), read once.
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

// RFC 9111 1.2.2: a number of seconds too large to hold counts as this, and so does any above it.
inline constexpr seconds kForever{2147483648};

// A directive said twice means its most restrictive value. A value that is not delta-seconds (junk,
// a sign, a decimal, single quotes, none) is not "absent": it means the most restrictive value
// there is. Extensions are skipped whole, with their quoted arguments. Views point into the fields'
// bytes.
struct CacheControl {
  using Names = boost::container::small_vector<std::string_view, 2>;

  bool present = false;   // there is a Cache-Control field, even one that says nothing we know
  bool targeted = false;  // these are of a field for caches such as this one: Expires is void

  std::optional<seconds> max_age;
  std::optional<seconds> s_maxage;
  std::optional<seconds> stale_while_revalidate;  // RFC 5861
  std::optional<seconds> stale_if_error;          // RFC 5861
  std::optional<seconds> min_fresh;
  std::optional<seconds> max_stale;  // kForever when it has no argument

  bool no_store = false;
  bool no_cache = false;  // the unqualified form
  bool private_ = false;  // the unqualified form
  bool public_ = false;
  bool must_revalidate = false;
  bool proxy_revalidate = false;
  bool must_understand = false;
  bool no_transform = false;
  bool immutable = false;
  bool only_if_cached = false;

  // no-cache="a, b" and private="a, b": these may not be reused without validation, and not be
  // stored by a shared cache. Who names a field without which the rest would mean something else
  // (Content-Encoding, Vary, ETag, ...) means the unqualified form.
  Names no_cache_fields;
  Names private_fields;
};

// All lines of Cache-Control. A quote that never closes makes the whole of it no-store: nobody can
// tell what it was to say.
CacheControl cache_control(const Fields& fields);

// Names of targeted fields (RFC 9213) that are for this cache, the first to count first.
using Targets = std::span<const std::string>;

// What a response says to this cache: the first of the targets that is there and valid, else
// Cache-Control. A targeted field is a dictionary (RFC 8941), strictly read: one that is malformed
// or empty, or has a directive of ours with a value of another type, is as good as not there. Of a
// directive said twice the last counts, `?0` unsays one, and parameters say nothing.
CacheControl response_cache_control(const Fields& fields, Targets targets);

// The directives of a request, where `Pragma: no-cache` counts if there is no Cache-Control (RFC
// 9111 5.4).
CacheControl request_cache_control(const Fields& fields);

// Delta-seconds (RFC 9111 1.2.2), capped at kForever; nothing where it is not digits alone.
std::optional<seconds> parse_delta_seconds(std::string_view text);

}  // namespace proxy::http
