#include "proxy/http/cache_control.hpp"

#include <algorithm>

#include "proxy/http/structured_fields.hpp"
#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

constexpr std::size_t kMaxDirectives = 64;  // of a targeted field: each is compared with all others

// One member of the list, RFC 9111 5.2: token [ "=" ( token / quoted-string ) ].
struct Directive {
  std::string_view name;
  std::string_view argument;  // without quotes; escapes stay, since none of our directives has any
  bool has_argument = false;
  bool malformed = false;  // the name is followed by something else
};

bool is_quoted(std::string_view text) {
  return text.size() >= 2 && text.front() == '"' && text.find('"', 1) == text.size() - 1;
}

Directive read_directive(std::string_view member) {
  const auto end = leading(kTokenChar, member).size();
  Directive result{member.substr(0, end), {}, false, false};
  if (end == member.size()) return result;
  result.has_argument = true;
  result.argument = member.substr(end + 1);
  result.malformed = member[end] != '=';
  if (is_quoted(result.argument))
    result.argument = result.argument.substr(1, result.argument.size() - 2);
  else if (!is_token(result.argument))
    result.malformed = true;
  return result;
}

// Whether every quote of a line closes.
bool quotes_close(std::string_view line) {
  if (line.find('"') == std::string_view::npos) return true;  // nearly always
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"')
      quoted = !quoted;
    else if (line[i] == '\\' && quoted)
      ++i;
  }
  return !quoted;
}

using Age = std::optional<seconds> CacheTimes::*;

constexpr std::pair<std::string_view, Age> kAges[] = {
    {"max-age", &CacheControl::max_age},
    {"s-maxage", &CacheControl::s_maxage},
    {"stale-while-revalidate", &CacheControl::stale_while_revalidate},
    {"stale-if-error", &CacheControl::stale_if_error},
    {"max-stale", &CacheControl::max_stale},
    {"min-fresh", &CacheControl::min_fresh},
};

constexpr std::pair<std::string_view, bool CacheLimits::*> kForbidding[] = {
    {"no-store", &CacheControl::no_store},
    {"must-revalidate", &CacheControl::must_revalidate},
    {"proxy-revalidate", &CacheControl::proxy_revalidate},
    {"no-transform", &CacheControl::no_transform},
    {"only-if-cached", &CacheControl::only_if_cached},
};

constexpr std::pair<std::string_view, bool CacheGrants::*> kAllowing[] = {
    {"public", &CacheControl::public_},
    {"immutable", &CacheControl::immutable},
    {"must-understand", &CacheControl::must_understand},
};

template <class Table>
auto look_up(const Table& table, std::string_view name) {
  const auto found =
      std::ranges::find_if(table, [name](const auto& row) { return same_word(row.first, name); });
  return found == std::end(table) ? nullptr : found->second;
}

void apply_age(CacheControl& control, Age age, const Directive& directive) {
  // RFC 9111 4.2.1 and 5.2: of values that differ, and of values that cannot be read, the one that
  // lets the cache do least.
  const bool asks_more = age == &CacheControl::min_fresh;
  const seconds strictest = asks_more ? kForever : seconds{0};
  seconds value = strictest;
  // 5.2.1.2: without a value, a response of any age is accepted.
  if (age == &CacheControl::max_stale && !directive.has_argument)
    value = kForever;
  else if (!directive.malformed)
    value = parse_delta_seconds(directive.argument).value_or(strictest);
  auto& held = control.*age;
  if (!held)
    held = value;
  else
    held = asks_more ? std::max(*held, value) : std::min(*held, value);
}

// The fields without which a response would mean something else.
constexpr FieldSet kNeeded(field::age, field::cache_control, field::content_encoding,
                           field::content_length, field::content_range, field::content_type,
                           field::content_location, field::date, field::etag, field::expires,
                           field::last_modified, field::location, field::vary, field::via);

// no-cache and private apply to the whole response, or to the fields in the argument. An argument
// that is not a list of field names counts as none.
void apply_names(bool& whole, CacheLimits::Names& names, const Directive& directive) {
  CacheControl::Names listed;
  bool sound = !directive.malformed;
  Members members(directive.argument);
  while (const auto name = members.next()) {
    listed.push_back(*name);
    sound = sound && is_token(*name) && !kNeeded.has(field_id(*name));
  }
  if (listed.empty() || !sound)
    whole = true;
  else
    names.insert(names.end(), listed.begin(), listed.end());
}

void apply(CacheControl& control, const Directive& directive) {
  const std::string_view name = directive.name;
  if (const auto age = look_up(kAges, name)) return apply_age(control, age, directive);
  if (const auto flag = look_up(kForbidding, name)) {
    control.*flag = true;
  } else if (const auto allowing = look_up(kAllowing, name)) {
    // `public=no` may mean anything, and must not allow what `public` allows.
    if (!directive.has_argument) control.*allowing = true;
  } else if (same_word(name, "no-cache")) {
    apply_names(control.no_cache, control.no_cache_fields, directive);
  } else if (same_word(name, "private")) {
    apply_names(control.private_, control.private_fields, directive);
  }
}

using Directives = boost::container::small_vector<Member, 4>;

// The directives of all lines of one targeted field. If a directive occurs twice, the last one
// applies. Returns nothing if there is no line, or if a line is malformed.
std::optional<Directives> targeted_directives(const Fields& fields, std::string_view target) {
  Directives directives;
  for (const Field& line : fields) {
    if (!same_word(line.name, target)) continue;
    StructuredReader dictionary(line.value, Structure::dictionary);
    while (auto member = dictionary.next()) {
      const auto same = [&](const Member& earlier) { return earlier.key == member->key; };
      directives.erase(std::remove_if(directives.begin(), directives.end(), same),
                       directives.end());
      if (directives.size() == kMaxDirectives) return {};
      directives.push_back(std::move(*member));
    }
    if (dictionary.failed()) return {};
  }
  return directives;
}

// Whether one of our directives has a value of its type (RFC 9213 2.1). Other directives may have
// any value.
bool has_its_type(const Member& member) {
  using Type = BareItem::Type;
  const Type type = member.item.type;
  if (look_up(kAges, member.key)) {
    return type == Type::number && all(kDigit, member.item.text);
  }
  const bool names_fields = member.key == "no-cache" || member.key == "private";
  // 5.2.2.4 and 5.2.2.7: these two may be qualified by names of fields.
  if (names_fields) return type == Type::boolean || type == Type::string || type == Type::token;
  const bool flag = look_up(kForbidding, member.key) || look_up(kAllowing, member.key);
  return !flag || type == Type::boolean;
}

Directive directive_of(const Member& member) {
  const bool has_argument = member.item.type != BareItem::Type::boolean;
  return {member.key, has_argument ? member.item.text : std::string_view{}, has_argument, false};
}

std::optional<CacheControl> targeted_control(const Fields& fields, std::string_view target) {
  const auto directives = targeted_directives(fields, target);
  if (!directives || directives->empty()) return {};
  if (!std::all_of(directives->begin(), directives->end(), has_its_type)) return {};
  CacheControl control;
  control.present = control.targeted = true;
  for (const Member& member : *directives) {
    const bool unsaid = member.item.type == BareItem::Type::boolean && member.item.text == "0";
    if (!unsaid) apply(control, directive_of(member));
  }
  return control;
}

}  // namespace

std::optional<seconds> parse_delta_seconds(std::string_view text) {
  if (text.empty() || !all(kDigit, text)) return {};
  const auto number = parse_decimal(text);
  const auto limit = static_cast<std::uint64_t>(kForever.count());
  return seconds(static_cast<seconds::rep>(std::min(number.value_or(limit), limit)));
}

CacheControl cache_control(const Fields& fields) {
  CacheControl control;
  if (!fields.has(field::cache_control)) return control;
  bool readable = true;
  for (const Field& line : fields) {
    if (line.id != field::cache_control) continue;
    control.present = true;
    readable = readable && quotes_close(line.value);
    Members members(line.value);
    while (const auto member = members.next()) apply(control, read_directive(*member));
  }
  control.no_store = control.no_store || !readable;
  // An unreadable field must not lift no-store.
  control.must_understand = control.must_understand && readable;
  return control;
}

CacheControl response_cache_control(const Fields& fields, Targets targets) {
  for (const std::string& target : targets) {
    if (auto control = targeted_control(fields, target)) return std::move(*control);
  }
  return cache_control(fields);
}

CacheControl request_cache_control(const Fields& fields) {
  CacheControl control = cache_control(fields);
  if (!control.present) control.no_cache = has_member(fields, field::pragma, "no-cache");
  // no-cache of a request has no argument (5.2.1.4), so one with an argument applies to the whole.
  control.no_cache = control.no_cache || !control.no_cache_fields.empty();
  return control;
}

}  // namespace proxy::http
