// What a shared cache may store and may reuse (RFC 9111): pure verdicts, the only place that
// decides them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/cache/entry.hpp"
#include "proxy/http/cache_control.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/http/head.hpp"

namespace proxy::cache {

// What the rules ask of a request, read once. Refers to the head's text.
struct RequestFacts {
  enum class Method : std::uint8_t { get, head, other };

  explicit RequestFacts(const http::RequestHead& request);

  Method method;
  http::CacheControl control;                // Pragma taken into account
  bool authorization = false;                // Authorization is there
  bool range = false;                        // Range is there, on a GET
  std::string_view ranges;                   // its value; empty: not there, or more than once
  std::optional<std::string_view> if_range;  // empty: nothing that could be met
  // The origin's to answer: If-Match and If-Unmodified-Since; a body, which may change what is
  // meant; an Upgrade.
  bool for_origin = false;

  // What the settings say, not the head.
  FreshnessBounds freshness = {};
  bool never_store = false;  // passed on, and nothing that comes of it is kept
  // No origin is there: whatever is stored answers unless it forbids that (RFC 9111 4.2.4), and
  // nothing is forwarded.
  bool offline = false;
};

// Why a response may not be stored; `yes` if it may (RFC 9111 3).
enum class Storability : std::uint8_t {
  yes,
  method,            // only what answers a GET is kept
  site,              // by the settings
  request_no_store,  //
  status,            // not final, not cacheable without explicit freshness, or must-understand
                     // and we do not
  partial,           // 304, 416, or a 206 that is not simply one part
  no_store,
  private_,       // unqualified: of fields that it names the rest is stored without them
  authorization,  // without public, must-revalidate or s-maxage (3.5)
  vary_star,
  set_cookie,  // without explicit freshness
  useless,     // stale on arrival (or no-cache), and nothing to validate it by
};
std::string_view text(Storability storability);

// `times` and `targets` are those the entry would have.
Storability may_store(const RequestFacts& request, const http::ResponseHead& response,
                      const Times& times, http::Targets targets = {});

enum class Action : std::uint8_t {
  serve,       // from the entry; a Range may be ignored
  refresh,     // the same, and ask the origin meanwhile whether it still holds (RFC 5861 3)
  refuse,      // 504: only-if-cached, or offline
  pass,        // forward as it is, share and store nothing
  fetch,       // without the client's conditions, and store it if it may be
  revalidate,  // the same, with conditional_fields(entry)
  complete,    // ask for what the entry lacks: a part, rest_wanted() (see combine.hpp); an object,
               // blocks of it
};

struct Verdict {
  Action action;
  http::Forward reason;  // why it is not simply a hit: goes into Cache-Status as it is
  // A part is asked for, of what is fetched, revalidated or completed, and for this request alone;
  // else the whole, without the client's Range.
  bool part = false;

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

// What to do with a request, given what the store found for the GET of its URL. only-if-cached is
// answered by a stored 200 or a part of one (or by 304) or refused, never forwarded.
Verdict judge(const RequestFacts& request, const Found& found, Time now);

// Whether a stale entry may answer because its validation failed on the way or by an error (RFC
// 5861 4): for as long as the response, the request or `setting` says stale-if-error, the longest
// of them. The last is for an origin that is out of reach, else 0 (RFC 9111 4.2.4). A client that
// wants a certain freshness gets nothing stale unless it says so itself (5.2.1.1).
bool may_stand_in(const RequestFacts& request, const Entry& entry, Time now,
                  seconds setting = seconds(0));
// RFC 5861 4: the errors that a stale entry may stand in for.
bool is_error_to_stand_in_for(unsigned status);

}  // namespace proxy::cache
