#include "proxy/sources/contradiction.hpp"

#include <limits>
#include <string>

#include "proxy/cache/combine.hpp"
#include "proxy/http/date.hpp"
#include "proxy/http/validators.hpp"

namespace proxy {

using http::field;

namespace {

// Last-Modified and Date may be a little apart in a response that was made while the file changed.
constexpr std::chrono::minutes kWellBefore{1};

bool same_encoding(const cache::Entry& given, const http::Fields& origin) {
  constexpr auto kNoLimit = std::numeric_limits<std::size_t>::max();
  std::string text = std::string(given.head()) + "\r\n";
  const auto head = http::parse_response_head(text, {kNoLimit, kNoLimit});
  return head &&
         head->fields.value(field::content_encoding) == origin.value(field::content_encoding);
}

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
  const bool other_length =
      length && origin_length && *length != *origin_length && same_encoding(given, origin.fields);
  if (cache::same_representation(given, origin.fields)) return other_length;
  if (!unchanged_since(origin.fields, given.date())) return false;
  if (http::weakly_equal(origin.fields.value(field::etag), given.quotes().etag)) return false;
  const bool other_date = origin.fields.value(field::last_modified) != given.quotes().last_modified;
  return other_date || other_length;
}

}  // namespace proxy
