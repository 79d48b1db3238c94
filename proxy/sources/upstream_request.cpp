#include "proxy/sources/upstream_request.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "peers/native_target.hpp"
#include "peers/site.hpp"
#include "proxy/cache/combine.hpp"
#include "proxy/cache/partial.hpp"
#include "proxy/cache/revalidation.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/range.hpp"
#include "proxy/http/text.hpp"
#include "proxy/policy/content.hpp"

namespace proxy::sources {
namespace {

using http::field;

// Fields of a client that are not sent on. First its own conditions and ranges: a fill asks for the
// whole or for its part, with conditions of its own. Then what only the origin may know.
constexpr std::array kWithheld{field::accept_encoding,
                               field::if_none_match,
                               field::if_modified_since,
                               field::if_match,
                               field::if_unmodified_since,
                               field::expect,
                               field::range,
                               field::if_range,
                               field::cookie,
                               field::cookie2,
                               field::authorization,
                               field::cache_control,
                               field::pragma};
constexpr std::span kClientsOwn = std::span(kWithheld).first<8>();
constexpr std::span kClientsConditions = std::span(kWithheld).subspan<1, 5>();
constexpr std::span kClientsConditionsAndRange = std::span(kWithheld).subspan<1, 7>();
constexpr std::span kNotForSiblings = std::span(kWithheld).subspan<1>();

http::UpstreamRequest to_origin(const policy::Request& request, std::string_view our_name,
                                const http::Fields& fields, std::span<const field> without) {
  return {.method = "GET",
          .target = request.target.asked_path(),
          .host = request.origin_host(),
          .fields = fields,
          .received_minor = request.head.minor,
          .name = our_name,
          .without = without};
}

http::UpstreamRequest to_origin(const policy::Request& request, std::string_view our_name) {
  return to_origin(request, our_name, request.head.fields, kClientsConditionsAndRange);
}

std::string head_of(const http::UpstreamRequest& asked) {
  std::string head;
  http::append_request_head(head, asked);
  return head;
}

// Whether the answer is the part from `offset` to the end. If `length` is known, it must be the
// complete length. Content-Length must agree with the range, or a cut body could pass for a whole
// one.
bool continues_at(const http::Fields& answer, std::uint64_t offset,
                  std::optional<std::uint64_t> length) {
  const auto part = http::parse_content_range(answer.value(field::content_range));
  if (!part || part->range.first != offset || part->complete != part->range.last + 1) return false;
  const auto promised = http::parse_decimal(answer.value(field::content_length));
  return promised == part->range.size() && (!length || length == part->complete);
}

// Whether the client's Accept-Encoding may not bring the codings that the entry has. If Vary names
// the field, the client's own value has selected the entry. Without the field, no server applies a
// coding.
bool may_bring_other_codings(const policy::Request& request, const cache::Entry& entry) {
  const auto& selecting = entry.variant().selecting_fields();
  const bool selects = std::any_of(selecting.begin(), selecting.end(), [](const auto& one) {
    return one.id == field::accept_encoding;
  });
  if (selects) return false;
  return request.head.fields.has(field::accept_encoding) ||
         cache::accepts_coding_of(entry) != "identity";
}

// Asks for a range of the entry's representation, by its validator, unless the server need not know
// that. Accept-Encoding asks for the entry's codings,
// unless this request has brought the entry (`by_this_request`).
std::string unchanged_range(const policy::Request& request, std::string_view our_name,
                            const cache::Entry& entry, std::string_view range,
                            bool by_this_request) {
  boost::container::small_vector<http::Field, 3> extra{{field::range, "Range", range}};
  const auto validator = cache::strong_validator(entry);
  // What continues a stored part must be of its version: see cache::joined().
  const bool is_known = entry.range() || !policy::has_tag_of_digest(entry, request);
  if (is_known && !validator.empty()) extra.push_back({field::if_range, "If-Range", validator});
  auto asked = to_origin(request, our_name);
  std::string codings;
  if (!by_this_request && may_bring_other_codings(request, entry)) {
    codings = cache::accepts_coding_of(entry);
    extra.push_back({field::accept_encoding, "Accept-Encoding", codings});
    asked.without = kClientsOwn;
  }
  asked.extra = {extra.data(), extra.size()};
  return head_of(asked);
}

// Whether the client is ahead of the cache (cache::judge), which its Cache-Control does not say. A
// parent may be as far behind as we are.
bool is_for_origin_to_say(const policy::Request& request, const cache::Verdict& how) {
  const auto& control = request.facts.control;
  const bool says = control.no_cache || control.max_age || control.min_fresh;
  return how.reason == http::Forward::request && !says;
}

void append_seconds(std::string& out, std::string_view name,
                    const std::optional<std::chrono::seconds>& value) {
  if (!value) return;
  out += name;
  http::append_decimal(out, static_cast<std::uint64_t>(value->count()));
}

}  // namespace

std::string sibling_request(const policy::Request& request, std::string_view our_name,
                            const SiblingQuestion& asked, std::string_view method) {
  const auto& part = asked.part;
  // The client's limits on age bind the sibling, too.
  std::string control = "only-if-cached";
  auto least = asked.least_freshness;
  if (!request.facts.immutable) {
    append_seconds(control, ", max-age=", request.facts.control.max_age);
    least = std::max(least, request.facts.control.min_fresh.value_or(least));
  }
  if (least > std::chrono::seconds(0)) append_seconds(control, ", min-fresh=", least);
  if (asked.stale_will_do) control += ", max-stale";
  boost::container::small_vector<http::Field, 8> extra{
      {field::cache_control, "Cache-Control", control},
      {field::unknown, peers::kEpochField, peers::kWanted}};
  const auto add = [&extra](field id, std::string_view name, std::string_view value) {
    if (!value.empty()) extra.push_back({id, name, value});
  };
  const std::string range = part ? http::range_field(part->bytes) : std::string();
  const std::string rule = request.facts.rule ? peers::to_text(request.facts.rule) : std::string();
  add(field::range, "Range", range);
  if (part) add(field::if_range, "If-Range", part->validator);
  if (part && part->first_will_do) add(field::unknown, peers::kPartField, peers::kFirstWillDo);
  add(field::if_none_match, "If-None-Match", asked.tag);
  add(field::unknown, peers::kDigestField, asked.digest);
  add(field::unknown, peers::kFetchField, asked.fetcher);
  add(field::unknown, peers::kRuleField, rule);
  const auto shown = http::without_forwarded(request.head.fields);
  return head_of({.method = method,
                  .target = policy::url_for_others(request),
                  .host = request.target.authority(),
                  .fields = shown ? *shown : request.head.fields,
                  .received_minor = request.head.minor,
                  .name = our_name,
                  .without = kNotForSiblings,
                  .extra = {extra.data(), extra.size()}});
}

std::string check_request(const policy::Request& request, std::string_view our_name) {
  const auto shown = http::without_forwarded(request.head.fields);
  const auto& fields = shown ? *shown : request.head.fields;
  return head_of(to_origin(request, our_name, fields, kNotForSiblings));
}

bool selected_by_withheld(const http::ResponseHead& answer, const policy::Request& request) {
  if (!answer.fields.may_have(field::vary)) return false;
  for (const auto& line : request.head.fields) {
    if (http::is_forwarded_field(line) && http::has_member(answer.fields, field::vary, line.name)) {
      return true;
    }
  }
  return std::any_of(kNotForSiblings.begin(), kNotForSiblings.end(), [&](field withheld) {
    const auto name = boost::beast::http::to_string(withheld);
    return request.head.fields.has(withheld) &&
           http::has_member(answer.fields, field::vary, {name.data(), name.size()});
  });
}

std::string origin_request(const policy::Request& request, std::string_view our_name,
                           const cache::Verdict& how, const StoredToRenew& known,
                           const std::optional<http::AskedRange>& range_override) {
  const auto* const stored = known.entry;
  const auto rest = stored && how.action == cache::Action::complete
                        ? cache::rest_wanted(request.facts, *stored)
                        : std::nullopt;
  if (rest) return unchanged_range(request, our_name, *stored, cache::range_of(*rest), false);
  auto asked = to_origin(request, our_name);
  cache::Conditions extra;
  std::string range;
  if (how.part && !range_override) asked.without = kClientsConditions;
  const bool revalidates = stored && how.action == cache::Action::revalidate;
  if (revalidates) extra = cache::conditional_fields(*stored, known.tags);
  if (range_override) {
    range = http::range_field(*range_override);
    extra.push_back({field::range, "Range", range});
  }
  if (is_for_origin_to_say(request, how)) {
    extra.push_back({field::cache_control, "Cache-Control", "no-cache"});
  }
  asked.extra = {extra.data(), extra.size()};
  return head_of(asked);
}

std::optional<std::string> rest_request(const policy::Request& request, std::string_view our_name,
                                        const cache::Entry& entry, std::uint64_t offset) {
  if (cache::strong_validator(entry).empty()) return std::nullopt;
  const bool by_this_request = entry.source != cache::SourceKind::sibling;
  const auto range = http::range_field({offset, std::nullopt});
  return unchanged_range(request, our_name, entry, range, by_this_request);
}

std::string range_request(const policy::Request& request, std::string_view our_name,
                          const cache::Entry& object, const http::ByteRange& bytes) {
  const auto range = http::range_field({bytes.first, bytes.last});
  return unchanged_range(request, our_name, object, range, false);
}

std::string interim_text(const http::ResponseHead& head, std::string_view our_name) {
  std::string text;
  http::append_response_head(text, head, our_name);
  return text += "\r\n";
}

std::optional<std::uint64_t> joins_after(const http::ResponseHead& answer,
                                         const cache::Entry& entry, std::uint64_t offset,
                                         std::optional<std::uint64_t> length,
                                         const policy::Request& request) {
  if (!policy::may_continue(entry, answer.fields, request) ||
      cache::contradicts_length(answer, length, offset)) {
    return std::nullopt;
  }
  const bool whole = answer.status == 200 && !answer.fields.has(field::content_range);
  if (whole) return offset;
  if (answer.status == 206 && continues_at(answer.fields, offset, length)) return 0;
  return std::nullopt;
}

}  // namespace proxy::sources
