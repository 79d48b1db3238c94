#include "proxy/fetching/object_length.hpp"

#include <algorithm>

#include "proxy/cache/partial.hpp"

namespace proxy {

namespace {

bool is_good_part(const cache::Entry& part, std::optional<std::uint64_t> promised) {
  return part.range() && part.range()->complete && promised == part.range()->range.size() &&
         !cache::strong_validator(part).empty();
}

// Whether the part has exactly the asked range.
bool is_of_blocks(const http::ContentRange& part, const http::AskedRange& asked) {
  const auto end = *part.complete - 1;
  const auto last = asked.last ? std::min(*asked.last, end) : end;
  return part.range == http::ByteRange{asked.first, last};
}

// Whether the part is a whole body that is not large, and the client asked for all of it. Such a
// part is stored like any other response.
bool is_simply_all(const http::ContentRange& part, std::string_view ranges,
                   std::uint64_t large_from) {
  const auto asked = http::only_range(ranges);
  return part.is_whole() && *part.complete <= large_from && asked && asked->first == 0 &&
         asked->last.value_or(UINT64_MAX) >= part.range.last;
}

}  // namespace

std::optional<std::uint64_t> object_length(const cache::Entry& answer,
                                           std::optional<std::uint64_t> length,
                                           const cache::RequestFacts& request,
                                           const std::optional<http::AskedRange>& range_override,
                                           std::uint64_t large_from) {
  if (answer.variant().never_matches()) return {};
  const bool large = length && *length > large_from;
  if (answer.status == 200) return large ? length : std::nullopt;
  if (!is_good_part(answer, length)) return {};
  const auto& part = *answer.range();
  const bool wanted = range_override ? is_of_blocks(part, *range_override)
                                     : large && !request.if_range && !request.authorization;
  const bool kept =
      wanted && cache::whole_blocks(part) && !is_simply_all(part, request.ranges, large_from);
  return kept ? part.complete : std::nullopt;
}

}  // namespace proxy
