#include "proxy/cache/revalidation.hpp"

#include <algorithm>
#include <utility>

#include "proxy/cache/combine.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/text.hpp"
#include "proxy/http/validators.hpp"

namespace proxy::cache {
namespace {

using http::field;

// RFC 9111 3.2: fields that describe the stored bytes rather than the resource.
constexpr http::FieldSet kOfTheBytes(field::content_length, field::content_type,
                                     field::content_encoding, field::content_range);

using Exclusion = bool (*)(const http::Field&);

// Cache-Control, Expires, and the fields that take precedence over them (RFC 9213).
bool states_freshness(const http::Field& line) {
  constexpr std::string_view kControl = "Cache-Control";
  const auto end = line.name.size() - std::min(line.name.size(), kControl.size());
  return line.id == field::expires || http::same_word(line.name.substr(end), kControl);
}

bool has_line(const http::Fields& fields, const http::Field& like) {
  return like.id == field::unknown ? fields.find(like.name) != nullptr : fields.has(like.id);
}

// The fields of a 304 that replace stored ones. Not the digest, by which the stored bytes were
// verified when they came.
http::Fields updates_of(const http::Fields& not_modified) {
  const http::HopByHop hop_by_hop(not_modified);
  http::Fields updates;
  for (const http::Field& line : not_modified) {
    if (hop_by_hop.ends_here(line) || kOfTheBytes.has(line.id) ||
        http::same_word(line.name, "Repr-Digest"))
      continue;
    updates.append(line.id, line.name, line.value);
  }
  return updates;
}

// `guests`: a guest gave the stored response, so only the updates may say how long it is fresh. An
// origin repeats in a 304 what its 200 says about that (RFC 9110 15.4.5).
http::Fields merged(const http::Fields& stored, const http::Fields& updates, Exclusion excluded,
                    bool guests) {
  http::Fields fields;
  for (const http::Field& line : stored) {
    // The stored Via and Date describe the earlier message; without them the entry is as if
    // supplied now.
    if (line.id == field::via || line.id == field::date || has_line(updates, line)) continue;
    if (guests && states_freshness(line)) continue;
    if (!excluded || !excluded(line)) fields.append(line.id, line.name, line.value);
  }
  for (const http::Field& line : updates) {
    if (!excluded || !excluded(line)) fields.append(line.id, line.name, line.value);
  }
  return fields;
}

// Removes the cookies that only the client that asked may get, and returns their lines.
std::string remove_asker_cookies(http::Fields& fields, const RequestFacts& request,
                                 http::Targets targets) {
  std::string lines;
  if (!fields.has(field::set_cookie) ||
      may_store_cookie(request, http::response_cache_control(fields, targets))) {
    return lines;
  }
  const auto is_cookie = [](const auto& line) { return line.id == field::set_cookie; };
  for (const http::Field& line : fields) {
    if (is_cookie(line)) http::append_field(lines, line.name, line.value);
  }
  if (auto others = http::without(fields, is_cookie)) fields = std::move(*others);
  return lines;
}

// What a newer message changes of an entry.
struct Update {
  const Received& newer;
  Giver giver;                             // of the content
  std::optional<http::ContentRange> part;  // the content that the entry holds; empty: all
  Exclusion excluded = nullptr;            // fields that are left out
};

Freshened updated(Budget& budget, const Entry& entry, const RequestFacts& request,
                  const Update& update) {
  const auto& [newer, giver, part, excluded] = update;
  ParsedHead parsed(entry);
  http::ResponseHead& head = parsed.head;
  head.minor = newer.response.minor;  // Via describes the message that arrived last
  head.fields =
      merged(head.fields, updates_of(newer.response.fields), excluded, entry.giver().guest);
  const auto cookies = remove_asker_cookies(head.fields, request, newer.targets);
  if (entry.range() && !part) head.status = 200;
  if (part) head.status = 206;
  if (head.status != entry.status) head.reason = http::reason_phrase(head.status);
  const std::string content_range = part ? http::content_range(*part) : std::string();
  if (part) head.fields.append(field::content_range, "Content-Range", content_range);
  Received whole = newer.with(head);
  whole.url = entry.url();
  whole.shared = entry.shared;
  whole.object = entry.object();
  whole.giver = giver;
  whole.by_rule_alone = newer.by_rule_alone || entry.by_rule_alone();
  return {Entry::make(budget, whole), asker_fields(whole) + cookies,
          may_store(request, head, whole.times, whole.targets)};
}

}  // namespace

Conditions conditional_fields(const Entry& entry, std::string_view tags) {
  const auto stored = entry.quotes();
  Conditions conditions;
  if (!stored.etag.empty()) conditions.push_back({field::if_none_match, "If-None-Match", tags});
  if (!stored.last_modified.empty() && !entry.giver().guest) {
    conditions.push_back({field::if_modified_since, "If-Modified-Since", stored.last_modified});
  }
  return conditions;
}

bool identifies(const Entry& entry, const http::ResponseHead& not_modified, std::string_view tags) {
  const auto& fields = not_modified.fields;
  if (!http::agrees_on_validators(fields)) return false;
  if (fields.has(field::content_encoding) && !same_coding(entry, fields)) return false;
  const auto stored = entry.quotes();
  const std::string_view etag = fields.value(field::etag);
  if (!etag.empty()) {
    const bool weak = etag.substr(0, 2) == "W/";
    return etag == stored.etag || (weak && http::weakly_equal(etag, stored.etag));
  }
  // A guest may have made up its tag, such as "*", which matches whatever the origin has.
  if (entry.giver().guest) return false;
  const std::string_view modified = fields.value(field::last_modified);
  return modified.empty() ? tags.empty() || tags == stored.etag : modified == stored.last_modified;
}

Freshened freshen(Budget& budget, const Entry& entry, const RequestFacts& request,
                  const Received& not_modified) {
  // Only an origin's 304 confirms the body. A neighbour's leaves it with whoever gave it.
  const bool is_origins = not_modified.giver.tag == 0;
  const auto giver =
      is_origins ? not_modified.giver : giver_of_both(entry.giver(), not_modified.giver);
  auto fresh = updated(budget, entry, request, {not_modified, giver, entry.range()});
  fresh.entry->body = entry.body;
  return fresh;
}

Freshened with_part(Budget& budget, const Entry& entry, const RequestFacts& request,
                    const Received& newer, const std::optional<http::ContentRange>& part) {
  const auto giver = giver_of_both(entry.giver(), newer.giver);
  return updated(budget, entry, request, {newer, giver, part, is_of_whole_content});
}

}  // namespace proxy::cache
