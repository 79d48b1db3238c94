#include "proxy/cache/revalidation.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "proxy/http/forwarding.hpp"
#include "proxy/http/validators.hpp"

namespace proxy::cache {
namespace {

using http::field;

// RFC 9111 3.2: what tells of the stored bytes rather than of the resource.
bool stays_as_stored(field id) {
  static constexpr std::array kOfTheBytes{field::content_length, field::content_type,
                                          field::content_encoding, field::content_range};
  return std::find(kOfTheBytes.begin(), kOfTheBytes.end(), id) != kOfTheBytes.end();
}

bool has_line(const http::Fields& fields, const http::Field& like) {
  return like.id == field::unknown ? fields.find(like.name) != nullptr : fields.has(like.id);
}

// The fields of a 304 that go into the stored response.
http::Fields updates_of(const http::Fields& not_modified) {
  const http::HopByHop hop_by_hop(not_modified);
  http::Fields updates;
  for (const http::Field& line : not_modified) {
    if (hop_by_hop.ends_here(line) || stays_as_stored(line.id)) continue;
    updates.append(line.id, line.name, line.value);
  }
  return updates;
}

http::Fields merged(const http::Fields& stored, const http::Fields& updates) {
  http::Fields fields;
  for (const http::Field& line : stored) {
    // The stored Via and Date tell of the earlier message: without them it is as if supplied now.
    if (line.id == field::via || line.id == field::date || has_line(updates, line)) continue;
    fields.append(line.id, line.name, line.value);
  }
  for (const http::Field& line : updates) fields.append(line.id, line.name, line.value);
  return fields;
}

}  // namespace

Conditions conditional_fields(const Entry& entry, std::string_view tags) {
  Conditions conditions;
  if (!entry.etag.empty()) {
    conditions.push_back({field::if_none_match, "If-None-Match", tags});
  }
  if (!entry.last_modified.empty()) {
    conditions.push_back({field::if_modified_since, "If-Modified-Since", entry.last_modified});
  }
  return conditions;
}

bool identifies(const Entry& entry, const http::ResponseHead& not_modified, bool alone) {
  const std::string_view etag = not_modified.fields.value(field::etag);
  if (!etag.empty()) {
    const bool weak = etag.substr(0, 2) == "W/";
    return etag == entry.etag || (weak && http::weakly_equal(etag, entry.etag));
  }
  const std::string_view modified = not_modified.fields.value(field::last_modified);
  return modified.empty() ? alone : modified == entry.last_modified;
}

Freshened freshen(Budget& budget, const Entry& entry, const RequestFacts& request,
                  const Received& not_modified) {
  constexpr auto kNoLimit = std::numeric_limits<std::size_t>::max();
  std::string text = entry.head + "\r\n";  // it was parsed before it was stored
  http::ResponseHead head = http::parse_response_head(text, {kNoLimit, kNoLimit}).value();
  head.minor = not_modified.response.minor;  // Via tells of the message that arrived last
  head.fields = merged(head.fields, updates_of(not_modified.response.fields));
  const Received whole{.url = entry.url,
                       .request = not_modified.request,
                       .response = head,
                       .times = not_modified.times,
                       .our_name = not_modified.our_name,
                       .source = not_modified.source,
                       .shared = entry.shared,
                       .targets = not_modified.targets,
                       .bounds = not_modified.bounds};
  const auto fresh = std::make_shared<Entry>(budget, whole);
  fresh->body = entry.body;
  return {fresh, asker_fields(whole), may_store(request, head, whole.times, whole.targets)};
}

}  // namespace proxy::cache
