// Cache-Status (RFC 9211), written and read: why a response was served the way it was.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"

namespace proxy::http {

// RFC 9211 2.2: why a request went forward; `none` for a hit.
enum class Forward : std::uint8_t {
  none,
  bypass,
  method,
  uri_miss,
  vary_miss,
  miss,
  request,
  stale,
  partial
};

struct CacheStatus {
  bool hit = false;
  Forward fwd = Forward::none;
  std::optional<unsigned> fwd_status;
  std::optional<std::chrono::seconds> ttl;  // freshness left; negative when stale
  bool stored = false;
  bool collapsed = false;
  std::string key;  // that it is stored by; empty: not told
  std::string
      detail;  // words, as "false-hit/b peer/c"; bytes that no sf-string may hold are dropped
};

// Appends `name; hit; ttl=12; detail="..."`; the name is a token if it can be one, else a string.
void append_cache_status(std::string& out, std::string_view name, const CacheStatus& status);

// What the cache nearest to us says of a response: the last member of Cache-Status, as each cache
// on the way appends its own (RFC 9211 2).
struct NearestCacheStatus {
  bool hit = false;
  std::string fwd;     // a reason's token, also one that we do not know; empty: not forwarded
  std::string detail;  // a string's or a token's words
};

// Nothing where there is no such field, or any of it is malformed (RFC 8941 4.2).
std::optional<NearestCacheStatus> nearest_cache_status(const Fields& fields);

// The token of a reason, as logs and metrics spell it too: "uri-miss".
std::string_view text(Forward reason);

}  // namespace proxy::http
