#include "proxy/sources/contradiction.hpp"

#include "proxy/cache/representation.hpp"
#include "proxy/http/date.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {

using http::field;

namespace {

// Last-Modified and Date may be a little apart in a response that was made while the file changed.
constexpr std::chrono::minutes kWellBefore{1};

// Whether the origin's version is older than the neighbour's copy of it.
bool unchanged_since(const http::Fields& origin, std::chrono::sys_seconds date) {
  const auto modified = http::parse_date(origin.value(field::last_modified), date);
  return modified && *modified + kWellBefore < date;
}

}  // namespace

bool contradicts(const http::ResponseHead& origin, std::optional<std::uint64_t> origin_length,
                 const cache::Entry& given, std::optional<std::uint64_t> length) {
  const bool both_whole = origin.status == 200 && given.has_content();
  if (!both_whole || !http::agrees_on_validators(origin.fields)) return false;
  const bool other_length = length && origin_length && *length != *origin_length &&
                            cache::same_coding(given, origin.fields);
  if (cache::same_version(given, origin.fields)) return other_length;
  if (!unchanged_since(origin.fields, given.date())) return false;
  if (http::weakly_equal(origin.fields.value(field::etag), given.quotes().etag)) return false;
  const bool other_date = origin.fields.value(field::last_modified) != given.quotes().last_modified;
  return other_date || other_length;
}

}  // namespace proxy
