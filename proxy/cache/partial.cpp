#include "proxy/cache/partial.hpp"

#include <algorithm>
#include <limits>

#include "proxy/http/date.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/text.hpp"

namespace proxy::cache {
namespace {

using http::field;

bool within(const http::ByteRange& inner, const http::ByteRange& outer) {
  return inner.first >= outer.first && inner.last <= outer.last;
}

// Where the representation ends, for suffixes and open ranges. A part that states that it reaches
// the end but is shorter is taken to end where its bytes do.
std::uint64_t end_of(const Entry& entry) {
  constexpr auto kFarAway = std::numeric_limits<std::uint64_t>::max();
  if (const auto length = complete_length(entry)) return *length;
  const bool to_the_end = entry.range()->complete == entry.range()->range.last + 1;
  return to_the_end ? range_of_body(entry).last + 1 : kFarAway;
}

// The parts of a multipart repeat the type of the whole (15.3.7.2), unless that takes more bytes.
constexpr std::size_t kMostOfTypes = 128 * 1024;

// Fields of RFC 9110 8.3 to 8.5 and 14.4, RFC 9530 and RFC 1864.
bool describes_content(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      "Content-Type", "Content-Encoding", "Content-Language", "Content-Range",
      "Content-MD5",  "Content-Digest",   "Repr-Digest",      "Digest"};
  return http::has_word(kNames, name);
}

}  // namespace

bool meets_if_range(const RangeFacts& request, const Entry& entry) {
  if (!request.if_range) return true;
  const std::string_view named = *request.if_range;
  if (named.empty()) return false;
  return http::strongly_equal(named, entry.quotes().etag) || named == strong_date(entry);
}

bool is_of_whole_content(const http::Field& line) {
  return http::same_word(line.name, "Content-Digest") || http::same_word(line.name, "Content-MD5");
}

std::string_view strong_date(const Entry& entry) {
  constexpr seconds kSettled{60};
  const auto made = std::chrono::floor<seconds>(entry.times().response);
  const auto changed = http::parse_date(entry.quotes().last_modified, made);
  // The Date counts as well: if wall time has stepped, `made` is not the origin's time.
  const bool strong = changed && made - *changed >= kSettled + entry.initial_age() &&
                      entry.date() - *changed >= kSettled;
  return strong ? entry.quotes().last_modified : std::string_view{};
}

std::string_view strong_validator(const Entry& entry) {
  const auto etag = entry.quotes().etag;
  if (etag.empty()) return strong_date(entry);
  const auto tag = http::parse_entity_tag(etag);
  return tag && !tag->weak ? etag : std::string_view{};
}

http::ByteRange range_of_body(const Entry& entry) {
  const std::uint64_t first = entry.range() ? entry.range()->range.first : 0;
  return {first, first + std::max<std::uint64_t>(entry.body.size, 1) - 1};
}

bool is_as_said(const Entry& entry) {
  return !entry.is_part() || entry.range()->range.size() == entry.body.size;
}

std::optional<std::uint64_t> complete_length(const Entry& entry) {
  if (!entry.is_part()) return entry.body.size;
  return is_as_said(entry) ? entry.range()->complete : std::nullopt;
}

http::Selection parts_wanted(const RangeFacts& request, const Entry& entry) {
  // RFC 9110 14.2: a Range that does not apply is ignored, and the whole answers.
  if (!entry.has_content() || request.ranges.empty() || !meets_if_range(request, entry)) return {};
  auto selected = http::select_ranges(request.ranges, end_of(entry));
  if (!entry.is_part()) return selected;
  const bool has_all = std::ranges::all_of(selected.parts, [&](const http::ByteRange& part) {
    return within(part, range_of_body(entry));
  });
  if (selected.kind != http::Selection::Kind::parts || !has_all) return {};
  return selected;
}

PartialText partial_text(const Entry& entry, const http::ByteRanges& parts,
                         std::string_view boundary) {
  const ParsedHead parsed(entry);
  const auto& stored = parsed.head;
  const bool several = parts.size() > 1;
  PartialText partial;
  http::append_status_line(partial.head, 206, http::reason_phrase(206));
  for (const http::Field& line : stored.fields) {
    if (line.id == field::content_range || (several && line.id == field::content_type)) continue;
    if (is_of_whole_content(line)) continue;
    http::append_field(partial.head, line.name, line.value);
  }
  if (!several) {
    http::append_field(partial.head, "Content-Range",
                       http::content_range({parts.front(), complete_length(entry)}));
    return partial;
  }
  const std::string delimiter = "\r\n--" + std::string(boundary);
  http::append_field(partial.head, "Content-Type",
                     "multipart/byteranges; boundary=" + std::string(boundary));
  std::string_view type = stored.fields.value(field::content_type);
  if (type.size() * parts.size() > kMostOfTypes) type = {};
  for (const http::ByteRange& part : parts) {
    std::string& opening = partial.openings.emplace_back(delimiter + "\r\n");
    if (!type.empty()) http::append_field(opening, "Content-Type", type);
    http::append_field(opening, "Content-Range",
                       http::content_range({part, complete_length(entry)}));
    opening += "\r\n";
  }
  partial.closing = delimiter + "--\r\n";
  return partial;
}

bool is_unmodified_for(const http::Fields& request, const Entry& entry, Time now) {
  if (!request.has(http::field::if_none_match) && !request.has(http::field::if_modified_since)) {
    return false;
  }
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  return entry.has_content() && http::not_modified(request, entry.validators(), second);
}

std::string not_modified_head(const Entry& entry) {
  std::string head;
  http::append_status_line(head, 304, http::reason_phrase(304));
  std::string_view lines = entry.head();
  lines.remove_prefix(lines.find("\r\n") + 2);
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find("\r\n") + 2);
    const std::string_view name = line.substr(0, line.find(':'));
    if (!describes_content(name)) head += line;
    lines.remove_prefix(line.size());
  }
  return head;
}

}  // namespace proxy::cache
