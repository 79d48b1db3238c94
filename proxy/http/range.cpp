#include "proxy/http/range.hpp"

#include <algorithm>
#include <limits>

#include "proxy/http/head.hpp"
#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

constexpr std::uint64_t kFarAway = std::numeric_limits<std::uint64_t>::max();

constexpr std::string_view kUnit = "bytes=";

bool has_unit(std::string_view range) {
  return same_word(range.substr(0, kUnit.size()), kUnit);
}

// A range as written. Without a first position it is a suffix of `last` bytes.
struct Spec {
  std::optional<std::uint64_t> first;
  std::uint64_t last = kFarAway;
};
struct Specs : std::vector<Spec> {
  bool ascend = true;
};

// Reads 1*DIGIT. A number that does not fit is beyond every end.
std::optional<std::uint64_t> parse_position(std::string_view text) {
  if (text.empty() || !all(kDigit, text)) return {};
  return parse_decimal(text).value_or(kFarAway);
}

std::optional<Spec> parse_spec(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return {};
  const std::string_view first = text.substr(0, dash);
  const std::string_view last = text.substr(dash + 1);
  Spec spec;
  if (!last.empty() || first.empty()) {
    const auto position = parse_position(last);
    if (!position) return {};
    spec.last = *position;
  }
  if (first.empty()) return spec;
  spec.first = parse_position(first);
  // RFC 9110 14.1.1: such a range is invalid, and not merely beyond the end.
  if (!spec.first || *spec.first > spec.last) return {};
  return spec;
}

// Returns nothing for a suffix, and for a range that begins beyond every end.
std::optional<AskedRange> as_asked(const std::optional<Spec>& spec) {
  if (!spec || !spec->first || *spec->first == kFarAway) return {};
  if (spec->last == kFarAway) return AskedRange{*spec->first, std::nullopt};
  return AskedRange{*spec->first, spec->last};
}

// Returns nothing if the range is not satisfiable (14.1.2).
std::optional<ByteRange> cut(const Spec& spec, std::uint64_t size) {
  if (!spec.first) {
    const std::uint64_t length = std::min(spec.last, size);
    return length > 0 ? std::optional(ByteRange{size - length, size - 1}) : std::nullopt;
  }
  if (*spec.first >= size) return {};
  return ByteRange{*spec.first, std::min(spec.last, size - 1)};
}

// Returns nothing if the value is malformed, has another unit, or has too many ranges.
Specs parse_specs(std::string_view range) {
  // RFC 9110 14.2: a server may ignore a unit that it does not know.
  if (!has_unit(range)) return {};
  Specs specs;
  Members members(range.substr(kUnit.size()));
  while (const auto text = members.next()) {
    const auto spec = parse_spec(*text);
    if (!spec) return {};
    const bool follows = specs.empty() || (spec->first && *spec->first > specs.back().last);
    specs.ascend = specs.ascend && spec->first && follows;
    if (specs.size() >= (specs.ascend ? kMostAscending : kMostRanges)) return {};
    specs.push_back(*spec);
  }
  return specs;
}

// Whether `a` begins at the latest right after the end of `b`.
bool begins_by_the_end(const Spec& a, const Spec& b) {
  return *a.first <= b.last || *a.first - 1 == b.last;
}

// Whether the two touch whatever the size is. Of two suffixes the longer contains the other.
bool touch(const Spec& a, const Spec& b) {
  if (!a.first || !b.first) return !a.first && !b.first;
  return begins_by_the_end(a, b) && begins_by_the_end(b, a);
}

// Adds a range and joins it with the ranges that it touches. The result takes the position of the
// first of them. No two of `parts` touch each other, so only ranges that touch `added` can join.
template <class Parts, class Part>
void join(Parts& parts, const Part& added) {
  Part whole = added;
  std::size_t place = parts.size();
  for (std::size_t i = 0; i < parts.size();) {
    if (!touch(parts[i], added)) {
      ++i;
      continue;
    }
    whole = {std::min(whole.first, parts[i].first), std::max(whole.last, parts[i].last)};
    place = std::min(place, i);
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
  }
  parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(place), whole);
}

template <class Parts, class Part>
void add(Parts& parts, const Part& added, const Specs& of) {
  if (of.ascend) {
    parts.push_back(added);
  } else {
    join(parts, added);
  }
}

std::string text_of(const Specs& specs) {
  std::string value(kUnit);
  for (const Spec& spec : specs) {
    if (value.size() > kUnit.size()) value += ',';
    if (spec.first) append_decimal(value, *spec.first);
    value += '-';
    if (!spec.first || spec.last != kFarAway) append_decimal(value, spec.last);
  }
  return value;
}

// Whether a value that we do not understand asks for few ranges. Counts its commas.
bool asks_for_few(std::string_view range) {
  Members members(range);
  std::size_t seen = 0;
  while (members.next()) ++seen;
  return seen <= kMostRanges;
}

bool is_signature(std::string_view parameter) {
  constexpr std::string_view kNames[] = {"X-Amz-Signature", "X-Goog-Signature", "Signature"};
  return has_word(kNames, parameter.substr(0, parameter.find('=')));
}

bool has_signature(std::string_view target) {
  auto query = target.substr(std::min(target.find('?'), target.size()));
  while (!query.empty()) {
    query.remove_prefix(1);
    const auto end = std::min(query.find('&'), query.size());
    if (is_signature(query.substr(0, end))) return true;
    query.remove_prefix(end);
  }
  return false;
}

bool is_of_a_name(char c) {
  return is_letter(c) || is(kDigit, c) || c == '-' || c == '_';
}

// Whether the value lists the field Range among others, in whatever syntax.
bool names_range(std::string_view value) {
  constexpr std::string_view kRange = "range";
  for (std::size_t at = 0; at + kRange.size() <= value.size(); ++at) {
    const auto end = at + kRange.size();
    const bool apart = (at == 0 || !is_of_a_name(value[at - 1])) &&
                       (end == value.size() || !is_of_a_name(value[end]));
    if (apart && same_word(value.substr(at, kRange.size()), kRange)) return true;
  }
  return false;
}

}  // namespace

Selection select_ranges(std::string_view range, std::uint64_t size) {
  const auto specs = parse_specs(range);
  if (specs.empty()) return {};
  Selection selection;
  for (const Spec& spec : specs) {
    // A suffix of an empty representation is satisfied by all of it, which Content-Range cannot
    // express.
    if (size == 0 && !spec.first && spec.last > 0) return {};
    if (const auto part = cut(spec, size)) add(selection.parts, *part, specs);
  }
  selection.kind = selection.parts.empty() ? Selection::Kind::none : Selection::Kind::parts;
  return selection;
}

std::optional<std::string> joined_range(std::string_view range) {
  const auto specs = parse_specs(range);
  if (specs.empty() && !asks_for_few(range)) return {};
  Specs apart;
  for (const Spec& spec : specs) add(apart, spec, specs);
  return apart.size() == specs.size() ? std::string(range) : text_of(apart);
}

std::optional<AskedRange> only_range(std::string_view range) {
  if (!has_unit(range)) return {};
  return as_asked(parse_spec(range.substr(kUnit.size())));
}

AskedRanges asked_ranges(std::string_view range) {
  const auto specs = parse_specs(range);
  if (specs.empty()) return {};
  AskedRanges asked;
  for (const Spec& spec : specs) {
    const auto one = as_asked(spec);
    if (!one) return {};
    asked.push_back(*one);
  }
  return asked;
}

bool ascend(const AskedRanges& ranges) {
  const auto overlap = [](const AskedRange& a, const AskedRange& b) {
    return !a.last || b.first <= *a.last;
  };
  return std::ranges::adjacent_find(ranges, overlap) == ranges.end();
}

std::string range_field(const AskedRange& range) {
  std::string value = "bytes=";
  append_decimal(value, range.first);
  value += '-';
  if (range.last) append_decimal(value, *range.last);
  return value;
}

bool touch(const ByteRange& a, const ByteRange& b) {
  return a.first <= b.last + 1 && b.first <= a.last + 1;
}

std::string content_range(const ContentRange& part) {
  std::string value = "bytes ";
  append_decimal(value, part.range.first);
  append_decimal(value += '-', part.range.last);
  value += '/';
  if (!part.complete) return value += '*';
  append_decimal(value, *part.complete);
  return value;
}

std::string unsatisfied_range(std::uint64_t size) {
  std::string value = "bytes */";
  append_decimal(value, size);
  return value;
}

std::optional<std::uint64_t> unsatisfied_length(std::string_view value) {
  constexpr std::string_view kBegin = "bytes */";
  if (!same_word(value.substr(0, kBegin.size()), kBegin)) return {};
  return parse_decimal(value.substr(kBegin.size()));
}

std::optional<ContentRange> parse_content_range(std::string_view value) {
  constexpr std::string_view kBegin = "bytes ";
  if (!same_word(value.substr(0, kBegin.size()), kBegin)) return {};
  value.remove_prefix(kBegin.size());
  const auto dash = value.find('-');
  const auto slash = value.find('/');
  if (dash == value.npos || slash == value.npos || slash < dash) return {};
  const auto first = parse_decimal(value.substr(0, dash));
  const auto last = parse_decimal(value.substr(dash + 1, slash - dash - 1));
  const auto complete = value.substr(slash + 1);
  // RFC 9110 14.4: such a value is invalid, and bytes that came with it must not be joined to
  // others.
  if (!first || !last || *first > *last || *last == kFarAway) return {};
  ContentRange part{{*first, *last}, {}};
  if (complete == "*") return part;
  part.complete = parse_decimal(complete);
  if (!part.complete || *part.complete <= *last) return {};
  return part;
}

bool signs_range(const RequestHead& request) {
  if (has_signature(request.target)) return true;
  return std::ranges::any_of(request.fields, [](const Field& line) {
    const bool signs = line.id == field::authorization || same_word(line.name, "Signature") ||
                       same_word(line.name, "Signature-Input");
    return signs && names_range(line.value);
  });
}

}  // namespace proxy::http
