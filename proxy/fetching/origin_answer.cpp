#include "proxy/fetching/origin_answer.hpp"

#include <algorithm>

#include "proxy/cache/combine.hpp"
#include "proxy/cache/revalidation.hpp"
#include "proxy/http/validators.hpp"

namespace proxy::fetching {

namespace {

using cache::Action;

OriginSays said_by_304(const http::ResponseHead& answer, const OriginQuestion& asked,
                       const policy::Request& request) {
  const auto& stored = *asked.stored;
  const bool asked_alone = asked.tags == stored.quotes().etag;
  if (cache::identifies(stored, answer, asked.tags)) return OriginSays::unmodified;
  const auto etag = answer.fields.value(http::field::etag);
  const bool clients = !asked_alone && http::not_modified(request.head.fields, {etag, {}}, {});
  return clients ? OriginSays::unmodified_there : OriginSays::unmodified_other;
}

// A 200 with Content-Range may be a part under a wrong status.
bool is_whole(const http::ResponseHead& answer) {
  return answer.status == 200 && !answer.fields.has(http::field::content_range);
}

// The meaning of an answer to a range that is not the client's; nothing if the answer is of use.
std::optional<OriginSays> said_of_our_range(const http::ResponseHead& answer, bool completes,
                                            bool part) {
  const auto status = answer.status;
  if (!completes) {
    const bool of_use = status == 206 || is_whole(answer);
    return of_use ? std::nullopt : std::optional(OriginSays::declined);
  }
  if (is_whole(answer) && !part) return std::nullopt;
  const bool about_the_part =
      status == 200 || status == 206 || status == 304 || status == 412 || status == 416;
  return about_the_part ? OriginSays::not_the_rest : OriginSays::declined;
}

}  // namespace

bool OriginQuestion::changes_range(const cache::RequestFacts& client) const {
  if (how.action == Action::complete) return true;
  return range_override && (client.if_range || http::only_range(client.ranges) != range_override);
}

OriginQuestion OriginQuestion::anew() const {
  auto next = *this;
  next.how.action = Action::fetch;
  return next;
}

OriginQuestion OriginQuestion::without_stored() const {
  auto next = anew();
  next.stored = nullptr;
  return next;
}

OriginQuestion OriginQuestion::as_the_client_asked() const {
  auto next = how.action == Action::complete ? anew() : *this;
  next.range_override.reset();
  next.range = RangeAsked::again;
  return next;
}

OriginQuestion OriginQuestion::for_all() const {
  auto next = anew();
  next.how.part = false;
  return next;
}

OriginQuestion OriginQuestion::past_parents() const {
  auto next = *this;
  next.how.reason = http::Forward::request;
  return next;
}

OriginQuestion OriginQuestion::after_wrong_parent() const {
  auto next = past_parents();
  next.way = Way::directly;
  return next;
}

OriginSays said_by(const http::ResponseHead& answer, const OriginQuestion& asked,
                   const policy::Request& request) {
  const auto status = answer.status;
  const bool part = asked.how.part;
  const bool on_condition = asked.how.action == Action::revalidate && asked.stored &&
                            asked.stored->has_validator();  // a refreshed entry may lack one
  if (status == 304 && on_condition) return said_by_304(answer, asked, request);
  const bool completes = asked.how.action == Action::complete;
  if (completes && joined_with_stored(answer, asked, request)) return OriginSays::rest;
  if (asked.changes_range(request.facts)) {
    if (const auto says = said_of_our_range(answer, completes, part)) return *says;
  }
  if (status == 304 || (status == 206 && !part)) return OriginSays::unasked;
  const bool has_clients_range = part && !asked.range_override;
  if (has_clients_range && refuses_several(answer, request.facts))
    return OriginSays::several_refused;
  if (cache::is_error_to_stand_in_for(status)) return OriginSays::error;
  return OriginSays::response;
}

bool refuses_several(const http::ResponseHead& answer, const cache::RequestFacts& facts) {
  const bool may = answer.status == 501 || answer.status == 416;
  if (!may || facts.signs_range) return false;
  const auto ranges = http::asked_ranges(facts.ranges);
  if (ranges.size() < 2 || answer.status == 501) return ranges.size() > 1;
  const auto length = http::unsatisfied_length(answer.fields.value(http::field::content_range));
  return std::ranges::any_of(
      ranges, [&](const http::AskedRange& one) { return !length || one.first < *length; });
}

bool is_behind_client(const http::ResponseHead& answer, std::optional<std::uint64_t> length,
                      const policy::Request& request) {
  const auto etag = answer.fields.value(http::field::etag);
  if (answer.status == 416) return cache::is_ahead(request.facts, etag, 0);
  const auto part = cache::range_of(answer);
  return answer.status < 300 &&
         cache::is_ahead(request.facts, etag, part ? part->complete : length);
}

std::optional<http::ContentRange> joined_with_stored(const http::ResponseHead& answer,
                                                     const OriginQuestion& asked,
                                                     const policy::Request& request) {
  const auto rest = cache::rest_wanted(request.facts, *asked.stored);
  return rest ? cache::joined(*rest, *asked.stored, answer) : std::nullopt;
}

cache::Storability storability_of(const http::ResponseHead& answer, const OriginQuestion& asked,
                                  const policy::Request& request, const cache::Times& times,
                                  const http::CacheControl& control) {
  const bool whole_head = answer.status != 206 || asked.range_override || !request.facts.if_range;
  if (!whole_head) return cache::Storability::partial;
  return cache::may_store(request.facts, answer, times, control);
}

bool replaces_stored(unsigned status, cache::Storability storability) {
  const bool state = status < 400 || status == 404 || status == 410;
  // What may be about the credentials says nothing of a response that is for all, nor does a
  // request whose own fields are too long.
  return state && storability != cache::Storability::private_ &&
         storability != cache::Storability::authorization &&
         storability != cache::Storability::vary_too_long &&
         storability != cache::Storability::partial;
}

}  // namespace proxy::fetching
