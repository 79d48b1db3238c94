#include "proxy/fetching/origin_answer.hpp"

#include "proxy/cache/combine.hpp"
#include "proxy/cache/revalidation.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {

namespace {

using cache::Action;

OriginSays said_by_304(const http::ResponseHead& answer, const OriginQuestion& asked,
                       const Request& request) {
  const auto& stored = *asked.stored;
  const bool asked_alone = asked.tags == stored.quotes().etag;
  if (cache::identifies(stored, answer, asked_alone)) return OriginSays::unmodified;
  const auto etag = answer.fields.value(http::field::etag);
  const bool clients = !asked_alone && http::not_modified(request.head.fields, {etag, {}}, {});
  return clients ? OriginSays::unmodified_there : OriginSays::unmodified_other;
}

// Whether the answer serves the client by itself, though it is not the rest that was asked for.
bool answers_by_itself(unsigned status, bool part) {
  const bool of_our_asking = status == 206 || status == 304 || status == 412 || status == 416;
  return !of_our_asking && !(status == 200 && part);
}

// Whether the override asks for less than the client does. There are three cases: the beginning of
// the client's range is stored in blocks; the client asks for several ranges; or the client's
// If-Range decides whether it wants the range at all.
bool asks_for_less(const OriginQuestion& asked, const cache::RequestFacts& facts) {
  if (!asked.range_override) return false;
  const auto range = http::only_range(facts.ranges);
  return !range || facts.if_range || range->first < asked.range_override->first;
}

}  // namespace

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
  auto next = *this;
  next.range_override.reset();
  return next;
}

OriginSays said_by(const http::ResponseHead& answer, const OriginQuestion& asked,
                   const Request& request) {
  const auto status = answer.status;
  const bool part = asked.how.part;
  const bool on_condition = asked.how.action == Action::revalidate && asked.stored &&
                            asked.stored->has_validator();  // a refreshed entry may lack one
  if (status == 304 && on_condition) return said_by_304(answer, asked, request);
  if (asked.how.action == Action::complete) {
    if (joined_with_stored(answer, asked, request)) return OriginSays::rest;
    if (!answers_by_itself(status, part)) return OriginSays::not_the_rest;
  }
  if (status == 304 || (status == 206 && !part)) return OriginSays::unasked;
  if (status == 416 && asks_for_less(asked, request.facts)) return OriginSays::beyond_the_end;
  if (cache::is_error_to_stand_in_for(status)) return OriginSays::error;
  return OriginSays::response;
}

std::optional<http::ContentRange> joined_with_stored(const http::ResponseHead& answer,
                                                     const OriginQuestion& asked,
                                                     const Request& request) {
  const auto rest = cache::rest_wanted(request.facts, *asked.stored);
  return rest ? cache::joined(*rest, *asked.stored, answer) : std::nullopt;
}

cache::Storability storability_of(const http::ResponseHead& answer, const OriginQuestion& asked,
                                  const Request& request, const cache::Times& times,
                                  const http::CacheControl& control) {
  const bool whole_head = answer.status != 206 || asked.range_override || !request.facts.if_range;
  if (!whole_head) return cache::Storability::partial;
  return cache::may_store(request.facts, answer, times, control);
}

bool replaces_stored(unsigned status, cache::Storability storability) {
  const bool state = status < 400 || status == 404 || status == 410;
  // What may be about the credentials says nothing of a response that is for all.
  return state && storability != cache::Storability::private_ &&
         storability != cache::Storability::authorization &&
         storability != cache::Storability::partial;
}

}  // namespace proxy
