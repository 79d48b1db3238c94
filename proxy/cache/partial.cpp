#include "proxy/cache/partial.hpp"

#include <limits>

#include "proxy/http/date.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/text.hpp"

namespace proxy::cache {
namespace {

using http::field;

// RFC 9110 13.1.5: by strong comparison, or exactly that date.
bool same_version(const http::Fields& request, const Entry& entry) {
  if (!request.has(field::if_range)) return true;
  const std::string_view named = request.value(field::if_range);
  if (request.count(field::if_range) > 1 || named.empty()) return false;
  return http::strongly_equal(named, entry.etag) || named == strong_date(entry);
}

// Checksums of what a message carries (RFC 9530 2, RFC 1864), which a part of it does not have.
bool is_of_whole_content(std::string_view name) {
  return http::same_word(name, "Content-Digest") || http::same_word(name, "Content-MD5");
}

}  // namespace

std::string_view strong_date(const Entry& entry) {
  constexpr seconds kSettled{60};
  const auto made = std::chrono::floor<seconds>(entry.times.response);
  const auto changed = http::parse_date(entry.last_modified, made);
  const bool strong = changed && made - *changed >= kSettled + entry.initial_age;
  return strong ? entry.last_modified : std::string_view{};
}

std::string_view strong_validator(const Entry& entry) {
  const auto tag = http::parse_entity_tag(entry.etag);
  if (tag && !tag->weak) return entry.etag;
  return entry.etag.empty() ? strong_date(entry) : std::string_view{};
}

http::Selection parts_wanted(const http::Fields& request, const Entry& entry) {
  if (entry.status != 200 || request.count(field::range) != 1) return {};
  if (!same_version(request, entry)) return {};
  return http::select_ranges(request.value(field::range), entry.body.size);
}

PartialText partial_text(const Entry& entry, const http::ByteRanges& parts,
                         std::string_view boundary) {
  constexpr auto kNoLimit = std::numeric_limits<std::size_t>::max();
  std::string text = entry.head + "\r\n";  // it was parsed before it was stored
  const auto stored = http::parse_response_head(text, {kNoLimit, kNoLimit}).value();
  const bool several = parts.size() > 1;
  PartialText partial;
  http::append_status_line(partial.head, 206, http::reason_phrase(206));
  for (const http::Field& line : stored.fields) {
    if (line.id == field::content_range || (several && line.id == field::content_type)) continue;
    if (is_of_whole_content(line.name)) continue;
    http::append_field(partial.head, line.name, line.value);
  }
  if (!several) {
    http::append_field(partial.head, "Content-Range",
                       http::content_range({parts.front(), entry.body.size}));
    return partial;
  }
  const std::string delimiter = "\r\n--" + std::string(boundary);
  http::append_field(partial.head, "Content-Type",
                     "multipart/byteranges; boundary=" + std::string(boundary));
  const std::string_view type = stored.fields.value(field::content_type);
  for (const http::ByteRange& part : parts) {
    std::string& opening = partial.openings.emplace_back(delimiter + "\r\n");
    if (!type.empty()) http::append_field(opening, "Content-Type", type);
    http::append_field(opening, "Content-Range", http::content_range({part, entry.body.size}));
    opening += "\r\n";
  }
  partial.closing = delimiter + "--\r\n";
  return partial;
}

}  // namespace proxy::cache
