#include "proxy/cache/judge.hpp"

#include <algorithm>

#include "proxy/cache/combine.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/http/range.hpp"
#include "proxy/http/text.hpp"
#include "proxy/http/validators.hpp"
#include "proxy/http/vary.hpp"

namespace proxy::cache {
namespace {

using http::field;
using http::Forward;

constexpr unsigned kTooManyRequests = 429;
constexpr seconds kClassStandsIn = std::chrono::days(30);

RequestFacts::Method method_of(std::string_view method) {
  if (method == "GET") return RequestFacts::Method::get;
  if (method == "HEAD") return RequestFacts::Method::head;
  return RequestFacts::Method::other;
}

// The value of a field that may occur only once; empty: absent, or more than once.
std::string_view only_value(const http::Fields& fields, field name) {
  return fields.count(name) == 1 ? fields.value(name) : std::string_view{};
}

// RFC 9111 3.5.
bool leaves_authorization(const http::CacheControl& control) {
  return control.public_ || control.must_revalidate || control.s_maxage;
}

// For how long after its end of freshness the response may be served (RFC 5861).
seconds serves_stale_for(const http::CacheControl& control) {
  const bool never =
      control.no_cache || control.must_revalidate || control.proxy_revalidate || control.s_maxage;
  if (never) return seconds(0);
  const auto none = seconds(0);
  return std::max(control.stale_while_revalidate.value_or(none),
                  control.stale_if_error.value_or(none));
}

// Whether a response of another status than 206 may be a part: its Content-Range says so, or stands
// in an answer to a range.
bool is_part_by_another_name(const RequestFacts& request, const http::ResponseHead& response) {
  if (response.status == 206 || !response.fields.has(field::content_range)) return false;
  const auto part = http::parse_content_range(response.fields.value(field::content_range));
  return request.range || (part && !part->is_whole());
}

// RFC 6585 3 to 6: whether no cache may store such a response, whatever its fields allow.
bool is_never_stored(unsigned status) {
  return status == 428 || status == kTooManyRequests || status == 431 || status == 511;
}

// Whether the status allows to store the response, and it is exactly one part if it is a part.
Storability by_status(const RequestFacts& request, const http::ResponseHead& response,
                      const http::CacheControl& control) {
  const unsigned status = response.status;
  const bool is_final = !response.interim() && status <= http::kLastStatus && !response.icy;
  if (!is_final || is_never_stored(status)) return Storability::status;
  if (status == 206 && !range_of(response)) return Storability::partial;
  if (status == 304 || status == 416) return Storability::partial;
  if (is_part_by_another_name(request, response)) return Storability::partial;
  const bool is_known = !control.must_understand || understood(status);
  return is_known ? Storability::yes : Storability::status;
}

// Whether the entity tag is the digest of an empty file: Git's, or SHA-256.
bool names_empty_file(std::string_view etag) {
  constexpr std::string_view kGit = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
  constexpr std::string_view kSha256 =
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  const auto tag = http::parse_entity_tag(etag);
  return tag && (tag->opaque == kGit || tag->opaque.ends_with(kSha256));
}

// Whether nobody may keep the response for good under its name: a coded one is not what a digest is
// of, and servers in trouble send empty ones.
bool is_unfit_for_good(const RequestFacts& request, const http::ResponseHead& response) {
  if (!request.is_immutable_by_class() || response.status >= 300) return false;
  const auto length = http::parse_decimal(response.fields.value(field::content_length));
  const bool is_empty = length == std::uint64_t{0};
  return is_coded(response.fields) ||
         (is_empty && !names_empty_file(response.fields.value(field::etag)));
}

// Whether the response is for other requests, too.
Storability by_audience(const RequestFacts& request, const http::ResponseHead& response,
                        const http::CacheControl& control) {
  // First: a response for one user says nothing about the one stored for all, with or without
  // no-store.
  if (control.private_) return Storability::private_;
  // A cache that implements must-understand ignores the no-store beside it (5.2.2.3).
  if (control.no_store && !control.must_understand) return Storability::no_store;
  if (is_unfit_for_good(request, response)) return Storability::site;
  if (request.authorization && !leaves_authorization(control)) return Storability::authorization;
  if (request.open_to_all && response.status >= 300) return Storability::authorization;
  if (http::has_member(response.fields, field::vary, "*")) return Storability::vary_star;
  const bool is_long =
      request.fields && http::Variant::is_too_long(response.fields, *request.fields);
  return is_long ? Storability::vary_too_long : Storability::yes;
}

// Why a response could never be used once it is stored; `yes`: it can. A validator makes any
// response useful.
Storability use_of(const RequestFacts& request, const http::ResponseHead& response,
                   const http::CacheControl& control, const Freshness& freshness,
                   const Times& times) {
  using Basis = Freshness::Basis;
  const bool can_validate =
      !response.fields.value(field::etag).empty() || response.fields.has(field::last_modified);
  if (can_validate) return Storability::yes;
  if (control.no_cache) return Storability::no_cache;
  const auto age = initial_age(response.fields, times);
  if (freshness.lifetime + serves_stale_for(control) > age) return Storability::yes;
  if (request.freshness.most <= age) return Storability::site;
  if (freshness.lifetime > seconds(0) || freshness.basis == Basis::expires)
    return Storability::expired;
  return freshness.basis == Basis::heuristic ? Storability::no_lifetime : Storability::max_age;
}

// Whether blocks that the object lacks may be requested. The response to a request with credentials
// may be stored and joined only if the origin allows that, which it most likely did before.
bool may_be_completed(const RequestFacts& request, const Entry& object) {
  if (object.is_part() || strong_validator(object).empty()) return false;
  if (!request.authorization) return true;
  const ParsedHead parsed(object);
  return leaves_authorization(http::response_cache_control(parsed.head.fields, {}));
}

// Whether the client's max-stale (5.2.1.2) accepts the stale entry.
bool takes_stale(const RequestFacts& request, const Entry& entry, Time now) {
  const auto& max_stale = request.control.max_stale;
  return max_stale && !entry.never_stale && -entry.ttl(now) <= *max_stale;
}

bool names_another(const RangeFacts& request, std::string_view etag) {
  if (!request.shown_tags.empty()) return !http::names_tag(request.shown_tags, etag);
  if (!request.if_range || !http::parse_entity_tag(*request.if_range)) return false;
  return !http::strongly_equal(*request.if_range, etag);
}

// Whether the client has a newer version than the stored one. Called for each hit.
bool is_ahead(const RequestFacts& request, const Entry& entry) {
  return request.range && entry.has_content() &&
         cache::is_ahead(request, entry.quotes().etag, complete_length(entry));
}

// Why the entry may not be served without validation; `none` if it may (RFC 9111 4, 5.2.1).
Forward obstacle(const RequestFacts& request, const Entry& entry, Time now) {
  const http::CacheControl& control = request.control;
  if (entry.no_cache) return Forward::stale;
  if (!entry.fresh(now) && !takes_stale(request, entry, now)) return Forward::stale;
  if (is_ahead(request, entry)) return Forward::request;
  if (request.immutable && entry.fresh(now)) return Forward::none;
  if (control.no_cache) return Forward::request;
  if (control.max_age && entry.age(now) > *control.max_age) return Forward::request;
  if (control.min_fresh && entry.ttl(now) < *control.min_fresh) return Forward::request;
  return Forward::none;
}

// RFC 5861 3: whether the response allows stale-while-revalidate and the client asked for nothing
// fresher.
bool may_answer_first(const RequestFacts& request, const Entry& entry, Time now) {
  const http::CacheControl& control = request.control;
  const bool content =
      !control.no_cache && !control.no_store && !control.max_age && !control.min_fresh;
  const seconds allowed = entry.extras().stale_while_revalidate;
  return content && !entry.never_stale && allowed > seconds(0) && -entry.ttl(now) <= allowed;
}

// Whether the entry is there only because of a rule that does not apply to the request any more.
bool is_hidden(const RequestFacts& request, const Entry& entry) {
  return entry.by_rule_alone() && !request.open_to_all;
}

// Whether the request may have what our rule keeps.
bool has_rule(const RequestFacts& request, const Entry& entry, Time now) {
  return !request.from_neighbour || request.asked_rule == entry.rule() ||
         entry.fresh_without_rule(now);
}

// Whether the response may be stored.
bool keeps(const RequestFacts& request) {
  return request.method == RequestFacts::Method::get && !request.control.no_store;
}

// How to fetch a response that is not stored. A client that wants a part never waits for the whole.
Verdict forward(const RequestFacts& request, Forward reason) {
  if (!keeps(request)) return {Action::pass, reason};
  return {Action::fetch, reason, request.range};
}

// A stored part lacks bytes that the request wants.
Verdict judge_part(const RequestFacts& request, const Entry& part) {
  const bool completes = keeps(request) && rest_wanted(request, part);
  if (completes) return {Action::complete, Forward::partial, request.range};
  return forward(request, is_ahead(request, part) ? Forward::request : Forward::partial);
}

// For this reason the entry may not be served as it is.
Verdict judge_stale(const RequestFacts& request, const Found& found, Forward reason, Time now) {
  const Entry& entry = *found.entry;
  const bool may_refresh = reason == Forward::stale && !entry.is_part() && !found.lacks &&
                           may_answer_first(request, entry, now) && !is_ahead(request, entry);
  if (may_refresh) return {Action::refresh, reason};
  const bool is_part = entry.is_part() || (entry.is_object() && request.range);
  if (keeps(request) && entry.has_validator()) return {Action::revalidate, reason, is_part};
  return forward(request, reason);
}

Verdict judge_forwardable(const RequestFacts& request, const Found& found, Time now) {
  if (request.method == RequestFacts::Method::other) return {Action::pass, Forward::method};
  if (request.never_store || request.for_origin) return {Action::pass, Forward::bypass};
  if (!found.entry) {
    return forward(request, found.varies ? Forward::vary_miss : Forward::uri_miss);
  }
  const Entry& entry = *found.entry;
  if (!covers(request, entry)) return judge_part(request, entry);
  if (found.lacks && !may_be_completed(request, entry)) {
    return forward(request, Forward::partial);
  }
  const Forward reason = obstacle(request, entry, now);
  if (reason != Forward::none) return judge_stale(request, found, reason, now);
  if (!found.lacks) return {Action::serve, reason};
  if (!keeps(request)) return forward(request, Forward::partial);
  return {Action::complete, Forward::partial, request.range};
}

bool may_serve_offline(const RequestFacts& request, const Found& found, Time now) {
  if (!found.entry || found.lacks) return false;
  const Entry& entry = *found.entry;
  const bool allowed = !entry.never_stale || entry.reusable(now);
  return allowed && covers(request, entry) && !is_ahead(request, entry);
}

// What could be fetched, neighbours may have, except what the client wants from the origin.
Verdict judge_offline(const RequestFacts& request, const Found& found, Time now) {
  const Verdict verdict = judge_forwardable(request, found, now);
  const bool for_us = request.method != RequestFacts::Method::other && !request.for_origin;
  if (for_us && may_serve_offline(request, found, now)) return {Action::serve, verdict.reason};
  if (verdict.reason == Forward::request) return {Action::refuse, verdict.reason};
  if (verdict.action == Action::fetch || verdict.action == Action::revalidate) return verdict;
  // A body must not begin whose rest no neighbour may have.
  if (verdict.action == Action::complete) return {Action::fetch, verdict.reason, request.range};
  return {Action::refuse, verdict.reason};
}

}  // namespace

void RequestFacts::apply(const http::RequestHead& request) {
  const auto& lines = request.fields;
  fields = &lines;
  method = method_of(request.method);
  if (lines.may_have(field::cache_control) || lines.may_have(field::pragma)) {
    control = http::request_cache_control(lines);
  }
  authorization = lines.has(field::authorization);
  range = method == Method::get && lines.has(field::range);
  if (range) {
    ranges = only_value(lines, field::range);
    signs_range = http::signs_range(request);
    shown_tags = only_value(lines, field::if_none_match);
  }
  if (lines.has(field::if_range)) if_range = only_value(lines, field::if_range);
  for_origin = http::has_write_condition(lines);
  from_proxy = lines.has(field::via);
}

bool is_ahead(const RangeFacts& request, std::string_view etag,
              std::optional<std::uint64_t> length) {
  if (!request.range || !length || !names_another(request, etag)) return false;
  return http::select_ranges(request.ranges, *length).kind == http::Selection::Kind::none;
}

bool may_store_cookie(const RequestFacts& request, const http::CacheControl& control) {
  return request.store_cookies || control.public_ || control.s_maxage || control.targeted ||
         http::has_word(control.private_fields, "Set-Cookie") ||
         http::has_word(control.no_cache_fields, "Set-Cookie");
}

Storability storability_for(const RequestFacts& request) {
  if (request.method != RequestFacts::Method::get) return Storability::method;
  if (request.never_store) return Storability::site;
  if (request.control.no_store) return Storability::request_no_store;
  return request.for_origin ? Storability::for_origin : Storability::yes;
}

Storability may_store(const RequestFacts& request, const http::ResponseHead& response,
                      const Times& times, http::Targets targets) {
  return may_store(request, response, times,
                   http::response_cache_control(response.fields, targets));
}

Storability may_store(const RequestFacts& request, const http::ResponseHead& response,
                      const Times& times, const http::CacheControl& told) {
  const auto heeded_ones = heeded(told, request.freshness);
  const auto& control = heeded_ones ? *heeded_ones : told;
  if (const auto asked = storability_for(request); asked != Storability::yes) return asked;
  if (const auto by = by_status(request, response, control); by != Storability::yes) return by;
  if (const auto by = by_audience(request, response, control); by != Storability::yes) return by;
  const Freshness freshness = freshness_of(response, control, times.arrived(), request.freshness);
  if (freshness.basis == Freshness::Basis::none) return Storability::status;
  if (response.fields.has(field::set_cookie) && !may_store_cookie(request, control)) {
    return Storability::set_cookie;
  }
  return use_of(request, response, control, freshness, times);
}

Verdict judge(const RequestFacts& request, const Found& found, Time now) {
  if (found.entry && is_hidden(request, *found.entry)) return judge(request, {}, now);
  const Verdict verdict =
      request.offline ? judge_offline(request, found, now) : judge_forwardable(request, found, now);
  if (!request.control.only_if_cached) return verdict;
  if (verdict.action != Action::serve) return {Action::refuse, verdict.reason};
  const Entry& entry = *found.entry;
  if (!has_rule(request, entry, now)) return {Action::refuse, Forward::stale};
  const bool is_shared = entry.shared || !(request.from_proxy || request.from_neighbour);
  const bool has_form = entry.has_content() || !request.from_proxy;
  const bool fits = is_shared && has_form && entry.for_neighbours();
  return fits ? verdict : Verdict{Action::refuse, verdict.reason};
}

bool may_stand_in(const RequestFacts& request, const Entry& entry, Time now, seconds setting) {
  const http::CacheControl& control = request.control;
  // The class of a response outlives its origin's troubles, whatever the client asks for.
  if (request.freshness.by_class)
    return !entry.never_stale && entry.has_content() && covers(request, entry) &&
           !is_hidden(request, entry) && !is_ahead(request, entry) &&
           -entry.ttl(now) <= kClassStandsIn;
  if (entry.never_stale || control.no_cache || entry.fresh(now)) return false;
  if (!covers(request, entry) || is_hidden(request, entry) || is_ahead(request, entry))
    return false;
  seconds allowed = control.stale_if_error.value_or(seconds(0));
  const bool wants_fresh = (control.max_age || control.min_fresh) && !control.max_stale;
  if (!wants_fresh) allowed = std::max({allowed, seconds(entry.extras().stale_if_error), setting});
  return allowed > seconds(0) && -entry.ttl(now) <= allowed;
}

bool is_error_to_stand_in_for(unsigned status) {
  const bool invalid = status > http::kLastStatus;  // counts as a server error (RFC 9110 15)
  const bool named = status == 500 || status == 502 || status == 503 || status == 504;
  return named || status == kTooManyRequests || invalid;
}

}  // namespace proxy::cache
