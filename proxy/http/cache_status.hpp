// One member of Cache-Status (RFC 9211): why a response was served the way it was.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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
  std::string
      detail;  // words, as "false-hit/b peer/c"; bytes that no sf-string may hold are dropped
};

// Appends `name; hit; ttl=12; detail="..."`; the name is a token if it can be one, else a string.
void append_cache_status(std::string& out, std::string_view name, const CacheStatus& status);

// The token of a reason, as logs and metrics spell it too: "uri-miss".
std::string_view text(Forward reason);

}  // namespace proxy::http
