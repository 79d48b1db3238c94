#include "proxy/cache/freshness.hpp"

#include <algorithm>
#include <array>

#include "proxy/http/date.hpp"
#include "proxy/http/text.hpp"

namespace proxy::cache {
namespace {

using http::field;
using std::chrono::floor;
using std::chrono::milliseconds;
using std::chrono::sys_seconds;

constexpr seconds kLongestHeuristic = std::chrono::days(1);

// Two lines that differ count as no date.
std::optional<sys_seconds> date_in(const http::Fields& fields, field id, sys_seconds now) {
  const std::string_view value = fields.value(id);
  const bool one = std::ranges::all_of(
      fields, [&](const http::Field& line) { return line.id != id || line.value == value; });
  return one ? http::parse_date(value, now) : std::nullopt;
}

// The older of two that differ, so that a response never seems younger than it may be.
std::optional<sys_seconds> date_of(const http::Fields& fields, sys_seconds now) {
  std::optional<sys_seconds> oldest;
  for (const http::Field& line : fields) {
    const auto date = line.id == field::date ? http::parse_date(line.value, now) : std::nullopt;
    if (date && (!oldest || *date < *oldest)) oldest = date;
  }
  return oldest;
}

seconds bounded(seconds lifetime) {
  return std::clamp(lifetime, seconds(0), http::kForever);
}

seconds heuristic_lifetime(const http::Fields& fields, sys_seconds date, sys_seconds now) {
  const auto modified = date_in(fields, field::last_modified, now);
  if (!modified) return seconds(0);
  // A Date ahead of our clock would make the response look older, and therefore fresh for longer.
  return std::clamp((std::min(date, now) - *modified) / 10, seconds(0), kLongestHeuristic);
}

seconds age_value(const http::Fields& fields) {
  std::string_view text = fields.value(field::age);
  // RFC 9111 5.1: of a list, the first member counts.
  text = http::trim(text.substr(0, text.find(',')));
  if (!http::all(http::kDigit, text)) return seconds(0);  // Age has no quoted form
  return http::parse_delta_seconds(text).value_or(seconds(0));
}

Freshness as_told(const http::ResponseHead& response, const http::CacheControl& control,
                  Time arrived) {
  using Basis = Freshness::Basis;
  if (control.s_maxage) return {Basis::s_maxage, *control.s_maxage};
  if (control.max_age) return {Basis::max_age, *control.max_age};
  const auto now = floor<seconds>(arrived);
  const sys_seconds date = date_of(response.fields, now).value_or(now);
  // RFC 9111 5.3: an invalid date, above all "0", means that the response has expired already.
  if (response.fields.has(field::expires) && !control.targeted) {
    const sys_seconds expires = date_in(response.fields, field::expires, now).value_or(date);
    return {Basis::expires, bounded(expires - date)};
  }
  if (!heuristically_cacheable(response.status) && !control.public_) return {};
  return {Basis::heuristic, heuristic_lifetime(response.fields, date, now)};
}

// What lasts because of its class. An answer of a shared cache on the way may be old already.
Freshness by_class(const http::ResponseHead& response, Time arrived,
                   const FreshnessBounds& bounds) {
  const bool is_error = response.status == 404 || response.status == 410 || response.status == 451;
  const bool is_good = response.status < 300 && heuristically_cacheable(response.status);
  if (!is_good && !(is_error && bounds.errors)) return {};
  const auto wanted = is_good ? bounds.least : *bounds.errors;
  const auto age = floor<seconds>(initial_age(response.fields, {arrived, arrived}));
  return {Freshness::Basis::heuristic, bounded(std::min(wanted + age, bounds.most))};
}

}  // namespace

bool understood(unsigned status) {
  static constexpr std::array<unsigned, 52> kStatuses{
      200, 201, 202, 203, 204, 205, 206, 207, 208, 226, 300, 301, 302, 303, 304, 307, 308, 400,
      401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421,
      422, 423, 424, 426, 428, 429, 431, 451, 500, 501, 502, 503, 504, 505, 507, 511};
  return std::binary_search(kStatuses.begin(), kStatuses.end(), status);
}

bool heuristically_cacheable(unsigned status) {
  static constexpr std::array<unsigned, 12> kStatuses{200, 203, 204, 206, 300, 301,
                                                      308, 404, 405, 410, 414, 501};
  return std::ranges::find(kStatuses, status) != kStatuses.end();
}

Freshness freshness_of(const http::ResponseHead& response, const http::CacheControl& control,
                       Time arrived, const FreshnessBounds& bounds) {
  if (bounds.by_class) return by_class(response, arrived, bounds);
  auto freshness = as_told(response, control, arrived);
  const bool is_unstated_error = freshness.basis == Freshness::Basis::heuristic &&
                                 response.status >= 400 && heuristically_cacheable(response.status);
  if (is_unstated_error && bounds.errors) freshness.lifetime = *bounds.errors;
  // An error that lasts longer than it says would keep clients from what works again.
  const bool may_be_lifted =
      freshness.basis != Freshness::Basis::none && response.status < 400 && !forbids_stale(control);
  if (may_be_lifted) freshness.lifetime = std::max(freshness.lifetime, bounds.least);
  freshness.lifetime = std::min(freshness.lifetime, bounds.most);
  return freshness;
}

std::optional<http::CacheControl> heeded(const http::CacheControl& control,
                                         const FreshnessBounds& bounds) {
  if (!bounds.by_class) return std::nullopt;
  http::CacheControl heeded;
  heeded.present = control.present;
  heeded.targeted = control.targeted;
  heeded.no_store = control.no_store;
  heeded.must_understand = control.must_understand;
  heeded.no_cache_fields = control.no_cache_fields;
  heeded.private_fields = control.private_fields;
  return heeded;
}

bool forbids_stale(const http::CacheControl& control) {
  return control.must_revalidate || control.proxy_revalidate || control.s_maxage ||
         control.no_cache;
}

milliseconds initial_age(const http::Fields& response, const Times& times) {
  const auto arrived = floor<seconds>(times.arrived());
  const sys_seconds date = date_of(response, arrived).value_or(arrived);
  const milliseconds apparent = std::max(arrived - date, seconds(0));
  const auto delay = std::max(floor<milliseconds>(times.response - times.request), milliseconds(0));
  return std::max(apparent, age_value(response) + delay);
}

}  // namespace proxy::cache
