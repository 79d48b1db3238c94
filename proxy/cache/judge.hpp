// What a shared cache may store and reuse (RFC 9111). Pure. Nothing else decides this.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/cache/entry.hpp"
#include "proxy/cache/storability.hpp"
#include "proxy/http/cache_control.hpp"
#include "proxy/http/cache_status.hpp"
#include "proxy/http/head.hpp"

namespace proxy::cache {

// The ranges that a request asks for. Refers to the text of the head.
struct RangeFacts {
  bool range = false;           // there is a Range field, and the method is GET
  std::string_view ranges;      // the value of Range; empty: absent, or more than one field
  bool signs_range = false;     // Range must reach the origin as it came: http::signs_range()
  std::string_view shown_tags;  // of a range: the value of If-None-Match; empty: as of `ranges`
  std::optional<std::string_view> if_range;  // empty: cannot be met
};

// The facts that the settings add to a request.
struct SiteFacts {
  FreshnessBounds freshness = {};
  digest::RuleHash rule = 0;  // what neighbours must have in common with us for some responses
  bool immutable = false;     // a fresh response answers, however fresh a one the client asks for
  // All clients may see the responses, so that they are stored and reused as if no request had
  // credentials: `authorization` is false. Only successful ones are stored, since any other
  // may be about the credentials.
  bool open_to_all = false;
  bool has_credentials = false;  // if open_to_all: there is an Authorization field
  bool never_store = false;      // forward the request and store nothing of the response
  bool store_cookies = false;    // a Set-Cookie does not keep a response from being stored
  // No origin is available: any stored response is served unless it forbids that (RFC 9111 4.2.4),
  // and of the others those are fetched that neighbours may have.
  bool offline = false;

  // Whether a response answers for good, and its name says so.
  [[nodiscard]] bool is_immutable_by_class() const { return immutable && freshness.by_class; }
};

// The facts of a request that the rules need. Refers to the text of the head.
struct RequestFacts : RangeFacts, SiteFacts {
  enum class Method : std::uint8_t { get, head, other };

  RequestFacts() = default;
  explicit RequestFacts(const http::RequestHead& request) { apply(request); }
  // Sets the facts that the head tells, in facts that are not set yet.
  void apply(const http::RequestHead& request);

  const http::Fields* fields = nullptr;  // of the head, by which Vary selects; null: no field
  Method method = Method::get;
  http::CacheControl control;  // takes Pragma into account
  bool authorization = false;  // there is an Authorization field, and it matters
  // Whether only the origin can answer: the request has If-Match or If-Unmodified-Since, a body
  // (which may change what the request means), or an Upgrade.
  bool for_origin = false;
  // Whether a proxy has forwarded the request. Its fields tell that, or the client's
  // address, which client/arrival knows.
  bool from_proxy = false;
  // Whether the request may be that of a neighbour, which asks because of our digest. The client's
  // address tells, so client/arrival sets this.
  bool from_neighbour = false;
  digest::RuleHash asked_rule = 0;  // the neighbour's own, if it asks for what is stored; 0: none
};

// Whether a Set-Cookie may be stored with a response that has these directives. RFC 9111 7.3 leaves
// it to the origin to keep a cookie out of caches. Few origins that send a plain max-age think of
// it, so its origin must address shared caches, or name the field as one that is not stored.
bool may_store_cookie(const RequestFacts& request, const http::CacheControl& control);

// Why no response to the request may be stored; `yes`: the response decides.
Storability storability_for(const RequestFacts& request);

// Whether the response may be stored, or why not: never a reason that this cache decides. `times`
// and `targets` are those that the entry would have.
Storability may_store(const RequestFacts& request, const http::ResponseHead& response,
                      const Times& times, http::Targets targets = {});
// Decides the same for a caller that has the result of response_cache_control() already.
Storability may_store(const RequestFacts& request, const http::ResponseHead& response,
                      const Times& times, const http::CacheControl& control);

enum class Action : std::uint8_t {
  serve,    // serve the entry; its Range may be ignored
  refresh,  // serve the entry, and meanwhile ask the origin whether it is still valid (RFC 5861 3)
  refuse,   // 504: only-if-cached; or offline, and no neighbour may answer
  pass,     // forward the request unchanged; share and store nothing
  fetch,    // fetch without the client's conditions, and store the response if allowed
  revalidate,  // the same, with conditional_fields(entry)
  complete,    // fetch what the entry lacks: for a part rest_wanted() (combine.hpp), for an object
               // blocks
};

struct Verdict {
  Action action;
  http::Forward reason;  // why this is not simply a hit, as Cache-Status shows it
  // Fetch, revalidate or complete only the part that this request wants, and share it with no other
  // request. Otherwise fetch the whole, without the client's Range.
  bool part = false;

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

// Decides what to do with a request, given what the store found for a GET of its URL. A client that
// names a version which is not stored, and asks for bytes behind the end of the stored one, is
// ahead of the cache: the stored response is then validated, however fresh it is. only-if-cached is
// answered by what is stored or refused, never forwarded. It counts as a neighbour's question,
// whoever asks: Entry::for_neighbours() applies. A proxy gets only what is shared (Entry::shared),
// though another digest than ours made it ask. It gets only a 200 or a part of one (or a 304),
// because Squid takes any other answer of a sibling for a refusal. A proxy that does not name
// the rule by which an entry lasts (Entry::rule) is answered as if we had no rule, or it would get
// a response that is stale to it.
Verdict judge(const RequestFacts& request, const Found& found, Time now);

// Whether the client names another version than the one with this ETag, and asks for bytes behind
// the end of the version with this ETag. The client's version is then probably newer, and the range
// is meant for the newer version. `length`: the complete length of the version with this ETag; if
// unknown, returns false.
bool is_ahead(const RangeFacts& request, std::string_view etag,
              std::optional<std::uint64_t> length);

// Whether a stale entry may be served because its validation failed, by a failure to reach the
// origin or by an error response (RFC 5861 4): for the longest time that stale-if-error of the
// response, stale-if-error of the request or `setting` allows. `setting` is only for an origin that
// is out of reach or mirrored, else 0 (RFC 9111 4.2.4). A client that asks for a certain freshness
// gets a stale response only if its own directives allow that (5.2.1.1). With
// FreshnessBounds::by_class, for 30 days, whatever the client asks for.
bool may_stand_in(const RequestFacts& request, const Entry& entry, Time now,
                  seconds setting = seconds(0));
// The errors for which a stale entry may be served instead (RFC 5861 4).
bool is_error_to_stand_in_for(unsigned status);

}  // namespace proxy::cache
