#include "proxy/cache/other_methods.hpp"

#include "proxy/cache/partial.hpp"
#include "proxy/http/text.hpp"

namespace proxy::cache {
namespace {

using http::field;

bool says_the_same(const http::Fields& answer, field id, std::string_view stored) {
  const http::Field* line = answer.find(id);
  return !line || line->value == stored;
}

bool has_the_length(const http::Fields& answer, std::optional<std::uint64_t> stored) {
  const http::Field* line = answer.find(field::content_length);
  return !line || !stored || http::parse_decimal(line->value) == stored;
}

bool is_this_url(const http::Target& target, const http::ResponseHead& answer) {
  if (answer.fields.count(field::content_location) != 1) return false;
  const auto named = http::resolve(target, answer.fields.value(field::content_location));
  return named && named->url() == target.url();
}

}  // namespace

HeadSays head_says(const RequestFacts& request, const http::ResponseHead& answer,
                   const Entry& stored) {
  const bool about_the_resource =
      answer.status == 200 || answer.status == 404 || answer.status == 410;
  // A server may answer 404 to whoever has no right to the resource.
  const bool about_credentials =
      request.authorization || (request.open_to_all && answer.status != 200);
  if (!about_the_resource || about_credentials || request.control.no_store) {
    return HeadSays::nothing;
  }
  // A stored part stands for the 200 of which it is a part.
  if (answer.status != (stored.range() ? 200 : stored.status)) return HeadSays::changed;
  const bool same =
      says_the_same(answer.fields, field::etag, stored.quotes().etag) &&
      says_the_same(answer.fields, field::last_modified, stored.quotes().last_modified) &&
      has_the_length(answer.fields, complete_length(stored));
  return same ? HeadSays::unchanged : HeadSays::changed;
}

RequestFacts as_get(const RequestFacts& request) {
  RequestFacts facts = request;
  facts.method = RequestFacts::Method::get;
  facts.for_origin = false;
  return facts;
}

Storability may_store_posted(const Posted& asked, const http::ResponseHead& answer,
                             const Times& times, http::Targets targets) {
  if (asked.head.method != "POST" || answer.status != 200) return Storability::method;
  const auto control = http::response_cache_control(answer.fields, targets);
  const auto freshness = freshness_of(answer, control, times.arrived());
  if (!freshness.is_explicit() || freshness.lifetime <= initial_age(answer.fields, times) ||
      !is_this_url(asked.target, answer)) {
    return Storability::method;
  }
  return may_store(as_get(asked.facts), answer, times, control);
}

std::vector<http::Target> invalidated_by(std::string_view method, const http::Target& target,
                                         const http::ResponseHead& answer) {
  if (http::is_safe(method) || answer.status < 200 || answer.status >= 400) return {};
  std::vector<http::Target> urls{target};
  for (const auto name : {http::field::location, http::field::content_location}) {
    const auto* line = answer.fields.find(name);
    if (!line) continue;
    // Another origin's URLs stay: a server must not be able to drop what another one gave (RFC 9111
    // 4.4).
    auto named = http::resolve(target, line->value);
    if (named && http::same_origin(*named, target)) urls.push_back(std::move(*named));
  }
  return urls;
}

}  // namespace proxy::cache
