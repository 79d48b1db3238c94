#include "proxy/cache/combine.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "proxy/cache/partial.hpp"
#include "proxy/cache/revalidation.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/http/text.hpp"
#include "proxy/http/validators.hpp"

namespace proxy::cache {

namespace {

using http::field;

// The codings in the order in which they were applied, as a list; empty: none.
std::string codings_of(const http::Fields& fields) {
  std::string codings;
  http::Members members(fields, field::content_encoding);
  while (const auto member = members.next()) {
    auto coding = http::lower(*member);
    // Some servers write it, though RFC 9110 8.4.1 says that they should not.
    if (coding == "identity") continue;
    if (coding.starts_with("x-")) coding.erase(0, 2);  // an older name (RFC 9110 8.4.1)
    if (!codings.empty()) codings += ", ";
    codings += coding;
  }
  return codings;
}

// Whether all lines of the field have the stored value.
bool agrees(const http::Fields& stored, const http::Fields& answer, field id) {
  return std::ranges::all_of(answer, [&](const http::Field& line) {
    return line.id != id || http::same_word(line.value, stored.value(id));
  });
}

// The complete length that the response states.
std::optional<std::uint64_t> told_length(const http::ResponseHead& answer) {
  // In a 206, Content-Length is that of the part.
  if (answer.status == 206) {
    const auto part = range_of(answer);
    return part ? part->complete : std::nullopt;
  }
  // RFC 9112 6.3: Transfer-Encoding overrides Content-Length.
  if (answer.fields.has(field::transfer_encoding)) return std::nullopt;
  return http::parse_decimal(answer.fields.value(field::content_length));
}

http::ContentRange part_of(const Entry& entry) {
  return {range_of_body(entry), complete_length(entry)};
}

// Two different lengths belong to different representations, whatever their tags say.
bool agree(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
  return !a || !b || *a == *b;
}

bool may_unite(const Entry& stored, const Entry& newer, const http::Fields& fields) {
  return stored.has_content() && is_as_said(stored) && is_as_said(newer) &&
         may_join(stored.giver(), newer.giver()) && same_representation(stored, fields) &&
         agree(complete_length(stored), complete_length(newer)) &&
         http::touch(part_of(stored).range, part_of(newer).range);
}

http::ContentRange united(const http::ContentRange& a, const http::ContentRange& b) {
  const http::ByteRange range{std::min(a.range.first, b.range.first),
                              std::max(a.range.last, b.range.last)};
  return {range, a.complete ? a.complete : b.complete};
}

std::optional<http::ContentRange> unless_whole(const http::ContentRange& part) {
  return part.is_whole() ? std::nullopt : std::optional(part);
}

// Joins two bodies that touch or overlap.
Body united(Budget& budget, const Entry& a, const Entry& b) {
  const bool a_first = range_of_body(a).first <= range_of_body(b).first;
  const Entry& left = a_first ? a : b;
  const Entry& right = a_first ? b : a;
  if (range_of_body(right).last <= range_of_body(left).last) return left.body;
  const auto overlap = range_of_body(left).last + 1 - range_of_body(right).first;
  // The overlap is taken from the part on the left: the validators say that both are equal, and
  // this way the blocks of the left part stay shared.
  const Body rest = without_first(budget, right.body, overlap);
  Body all = left.body;
  for (const SliceView slice : rest.slices) all.slices.push_back(slice);
  all.size += rest.size;
  return all;
}

// A stored whole is more useful than a part of the same representation.
bool outdoes(const Entry& stored, const Entry& newer) {
  return !stored.range() && stored.status == 200 && stored.fresh(newer.times().response) &&
         stored.quotes().etag == newer.quotes().etag &&
         stored.quotes().last_modified == newer.quotes().last_modified;
}

// The head with another status, without fields that describe the bytes of one message.
http::ResponseHead with_status(unsigned status, const http::ResponseHead& head) {
  http::ResponseHead same{head.minor, status, http::reason_phrase(status), {}};
  for (const http::Field& line : head.fields) {
    // A checksum of the part that arrived does not fit the whole object.
    if (line.id == field::content_range || is_of_whole_content(line)) continue;
    same.fields.append(line.id, line.name, line.value);
  }
  return same;
}

Ref<Entry> made_of(Budget& budget, Received message, Object object, std::uint64_t bytes) {
  message.object = object;
  const auto entry = Entry::make(budget, message);
  entry->body.size = bytes;
  return entry;
}

}  // namespace

bool same_version(const Entry& stored, const http::Fields& answer) {
  if (strong_validator(stored).empty() || !http::agrees_on_validators(answer)) return false;
  const auto etag = answer.value(field::etag);
  // A tag that is missing in the answer is no proof, even if the dates are equal.
  if (!stored.quotes().etag.empty()) return http::strongly_equal(etag, stored.quotes().etag);
  return etag.empty() && answer.value(field::last_modified) == stored.quotes().last_modified;
}

bool same_representation(const Entry& stored, const http::Fields& answer) {
  constexpr std::array kDescribing{field::content_type, field::content_language,
                                   field::last_modified};
  if (!same_version(stored, answer)) return false;
  const ParsedHead parsed(stored);
  const auto& fields = parsed.head.fields;
  return codings_of(fields) == codings_of(answer) &&
         std::ranges::all_of(kDescribing, [&](field id) { return agrees(fields, answer, id); });
}

bool contradicts_length(const http::ResponseHead& answer, std::optional<std::uint64_t> complete,
                        std::uint64_t come) {
  const auto told = told_length(answer);
  return told && (complete ? *told != *complete : *told < come);
}

bool same_coding(const Entry& stored, const http::Fields& answer) {
  return codings_of(ParsedHead(stored).head.fields) == codings_of(answer);
}

bool is_coded(const http::Fields& answer) {
  return !codings_of(answer).empty();
}

std::string accepts_coding_of(const Entry& stored) {
  auto codings = codings_of(ParsedHead(stored).head.fields);
  return codings.empty() ? "identity" : codings;
}

std::optional<MissingRange> rest_wanted(const RequestFacts& request, const Entry& stored) {
  if (!stored.range() || !is_as_said(stored)) return {};
  const auto has = range_of_body(stored);
  const auto complete = complete_length(stored);
  if (!request.range) {
    // Without a validator the new part cannot be joined; the response only shows whether the stored
    // part must be given up.
    const bool useful = !strong_validator(stored).empty() || !stored.has_validator();
    const bool lacks_its_end_alone = has.first == 0 && complete != has.last + 1;
    return useful && lacks_its_end_alone ? std::optional(MissingRange{0, has.last + 1, {}})
                                         : std::nullopt;
  }
  // Bytes of two responses are joined only by a strong validator (RFC 9110 15.3.7.3).
  if (strong_validator(stored).empty() || !complete) return {};
  if (request.if_range && *request.if_range != strong_validator(stored)) return {};
  const auto wanted = http::select_ranges(request.ranges, *complete);
  if (wanted.parts.size() != 1) return {};
  const auto part = wanted.parts.front();
  const bool begins_within = part.first >= has.first && part.first <= has.last;
  if (!begins_within || part.last <= has.last) return {};
  return MissingRange{part.first, has.last + 1, part.last};
}

std::optional<http::ContentRange> joined(const MissingRange& rest, const Entry& part,
                                         const http::ResponseHead& answer) {
  const auto came = range_of(answer);
  if (!came || !came->complete || !same_representation(part, answer.fields)) return {};
  const auto last = rest.last.value_or(*came->complete - 1);
  const auto promised = http::parse_decimal(answer.fields.value(field::content_length));
  // A server may answer with another range than the one that was asked for (RFC 9110 15.3.7).
  if (came->range != http::ByteRange{rest.first, last} || promised != came->range.size() ||
      !agree(came->complete, complete_length(part))) {
    return {};
  }
  return http::ContentRange{{rest.from, last}, came->complete};
}

Body without_first(Budget& budget, const Body& body, std::uint64_t skipped) {
  Body rest;
  rest.size = body.size - skipped;
  for (const SliceView slice : body.slices) {
    const auto cut = static_cast<std::uint32_t>(std::min<std::uint64_t>(skipped, slice.size));
    skipped -= cut;
    if (cut == 0) rest.slices.push_back(slice);
    if (cut == 0 || cut == slice.size) continue;
    const auto size = slice.size - cut;
    const auto block = Block::make(budget, size);
    std::copy_n(slice.block->data() + cut, size, block->data());
    rest.slices.push_back({block, size});
  }
  return rest;
}

Ref<const Entry> combine(const Entry* held_now, const Ref<const Entry>& newer,
                         const RequestFacts& request, const Received& response,
                         std::uint64_t most) {
  Budget& budget = newer->budget();
  if (newer->body.size == 0 || newer->body.size > newer->range()->range.size()) return nullptr;
  if (!is_as_said(*newer) && is_coded(response.response.fields)) return nullptr;
  if (held_now && held_now->object() && same_representation(*held_now, response.response.fields)) {
    return nullptr;  // its blocks are stored elsewhere
  }
  if (held_now && may_unite(*held_now, *newer, response.response.fields)) {
    const auto part = united(part_of(*held_now), part_of(*newer));
    auto both = with_part(budget, *held_now, request, response, unless_whole(part));
    if (both.storability == Storability::yes && part.range.size() <= most) {
      both.entry->body = united(budget, *held_now, *newer);
      return both.entry;
    }
  }
  if (held_now && outdoes(*held_now, *newer)) return nullptr;
  if (!is_as_said(*newer) || !newer->range()->is_whole()) return newer;
  const auto whole = with_part(budget, *newer, request, response, {}).entry;
  whole->body = newer->body;
  return whole;
}

Ref<Entry> object_entry(Budget& budget, const Received& received, Object object,
                        std::uint64_t length) {
  if (received.response.status == 200) return made_of(budget, received, object, length);
  const auto head = with_status(200, received.response);
  return made_of(budget, received.with(head), object, length);
}

Ref<const Entry> begun_entry(Budget& budget, const Received& received, Object object,
                             std::uint64_t bytes) {
  auto head = with_status(206, received.response);
  const auto range = http::content_range({{0, bytes - 1}, std::nullopt});
  head.fields.append(field::content_range, "Content-Range", range);
  return made_of(budget, received.with(head), object, bytes);
}

Ref<const Entry> block_entry(Budget& budget, const Entry& object, Body bytes, Giver giver) {
  const auto entry = Entry::make(
      budget,
      Saved{.url = object.url(), .status = 200, .head = {}, .giver = giver, .shared = false});
  entry->body = std::move(bytes);
  return entry;
}

}  // namespace proxy::cache
