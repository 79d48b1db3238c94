// Writes and reads Cache-Status (RFC 9211), which explains how a cache handled a request.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/fields.hpp"
#include "proxy/http/text.hpp"

namespace proxy::http {

// Why a request was forwarded (RFC 9211 2.2); `none` for a hit.
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
  std::optional<std::chrono::seconds> ttl;  // the remaining freshness lifetime; negative if stale
  bool stored = false;
  bool collapsed = false;
  std::string key;  // the key it is stored under; empty: not shown
  // Words such as "false-hit/b peer/c". Bytes that an sf-string cannot have are dropped.
  std::string detail;

  // Makes it as new, but keeps the memory of its texts.
  void clear() {
    hit = stored = collapsed = false;
    fwd = Forward::none;
    fwd_status.reset();
    ttl.reset();
    key.clear();
    detail.clear();
  }
};

// Writes `name; hit; ttl=12; detail="..."`. The name is written as a token if possible, else as a
// string.
void write_cache_status(PieceWriter& out, std::string_view name, const CacheStatus& status);

// Appends words to a `detail`, after a space; nothing if there are no words.
void add_detail(std::string& detail, std::string_view words);

// The member of Cache-Status that the cache nearest to us wrote: the last one, since each cache on
// the way appends its own (RFC 9211 2).
struct NearestCacheStatus {
  bool hit = false;
  std::string fwd;     // the token of a reason, even an unknown one; empty: not forwarded
  std::string detail;  // the words of a string or a token
};

// Returns nothing if there is no such field or any part of it is malformed (RFC 8941 4.2).
std::optional<NearestCacheStatus> nearest_cache_status(const Fields& fields);

// The token of a reason, such as "uri-miss", as logs and metrics spell it too.
std::string_view text(Forward reason);

}  // namespace proxy::http
