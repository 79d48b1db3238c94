#include "proxy/http/validators.hpp"

#include "proxy/http/date.hpp"
#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

// The text of a tag, with or without W/ and quotes.
std::string_view bare(std::string_view tag) {
  if (tag.substr(0, 2) == "W/") tag.remove_prefix(2);
  if (tag.size() >= 2 && tag.front() == '"' && tag.back() == '"')
    return tag.substr(1, tag.size() - 2);
  return tag;
}

// Takes the tag at the front of a list, with the comma after it. Inside a tag, a backslash does not
// escape and a comma does not separate (RFC 9110 8.8.3).
std::string_view parse_tag(std::string_view& list) {
  std::size_t end = list.substr(0, 2) == "W/" ? 2 : 0;
  if (end < list.size() && list[end] == '"') end = list.find('"', end + 1);
  end = std::min(list.find(',', std::min(end, list.size())), list.size());
  const std::string_view tag = trim(list.substr(0, end));
  list = trim(list.substr(std::min(end + 1, list.size())));
  return tag;
}

bool lists(std::string_view list, std::string_view etag) {
  while (!list.empty())
    if (weakly_equal(parse_tag(list), etag)) return true;
  return false;
}

bool none_match_met(const Fields& request, std::string_view etag) {
  for (const Field& line : request) {
    if (line.id != field::if_none_match) continue;
    if (names_tag(line.value, etag)) return true;
  }
  return false;
}

}  // namespace

std::optional<EntityTag> parse_entity_tag(std::string_view text) {
  EntityTag tag;
  tag.weak = text.substr(0, 2) == "W/";
  if (tag.weak) text.remove_prefix(2);
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return {};
  tag.opaque = text.substr(1, text.size() - 2);
  if (!all(kEtagChar, tag.opaque)) return {};
  return tag;
}

bool strongly_equal(std::string_view a, std::string_view b) {
  const auto first = parse_entity_tag(a);
  // Tags that are the same text are both weak or both strong.
  return first && !first->weak && parse_entity_tag(b) && a == b;
}

bool weakly_equal(std::string_view a, std::string_view b) {
  // Some origins leave out the quotes in one of two places.
  return !a.empty() && !b.empty() && bare(a) == bare(b);
}

bool names_tag(std::string_view none_match, std::string_view etag) {
  return none_match == "*" || lists(none_match, etag);
}

std::string joined_tags(std::string_view own, const Fields& request) {
  std::string all(own);
  // A list with a member that is no tag would be malformed as a whole.
  if (!parse_entity_tag(own)) return all;
  for (const Field& line : request) {
    if (line.id != field::if_none_match) continue;
    for (std::string_view list = line.value; !list.empty();) {
      const std::string_view tag = parse_tag(list);
      if (parse_entity_tag(tag) && !weakly_equal(tag, own)) (all += ", ") += tag;
    }
  }
  return all;
}

bool agrees_on_validators(const Fields& response) {
  return std::ranges::all_of(response, [&](const Field& line) {
    const bool validator = line.id == field::etag || line.id == field::last_modified;
    return !validator || line.value == response.value(line.id);
  });
}

bool not_modified(const Fields& request, const StoredValidators& stored,
                  std::chrono::sys_seconds now) {
  // RFC 9110 13.1.3: If-Modified-Since is ignored beside If-None-Match, and if it is a list.
  if (request.has(field::if_none_match)) return none_match_met(request, stored.etag);
  if (request.count(field::if_modified_since) != 1 || !stored.last_modified) return false;
  const auto since = parse_date(request.value(field::if_modified_since), now);
  return since && *stored.last_modified <= *since;
}

bool has_write_condition(const Fields& request) {
  return request.has(field::if_match) || request.has(field::if_unmodified_since);
}

}  // namespace proxy::http
