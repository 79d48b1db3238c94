#include "proxy/mirrors/path_pattern.hpp"

#include "proxy/http/text.hpp"

namespace proxy::mirrors {
namespace {

constexpr std::size_t kLongest = 256;
constexpr std::string_view kAnyParts = "**";
constexpr std::string_view kAnyQuery = "?*";

// A place for digits in hexadecimal.
struct Digits {
  std::string_view word;       // with its braces
  std::size_t count;           // of digits; 0: any number of decimal ones
  std::string_view algorithm;  // empty: the digits are no digest of the bytes
};

// At the front of the text, which begins with "{".
std::optional<Digits> parse_digits(std::string_view text) {
  const auto word = text.substr(0, text.find('}') + 1);
  if (word == "{sha256}") return Digits{word, 64, "sha256"};
  if (word == "{sha512}") return Digits{word, 128, "sha512"};
  if (word == "{num}") return Digits{word, 0, ""};
  if (!word.starts_with("{hex")) return std::nullopt;
  const auto count = http::parse_decimal(word.substr(4, word.size() - 5));
  if (!count || *count == 0 || *count > 128) return std::nullopt;
  return Digits{word, static_cast<std::size_t>(*count), ""};
}

bool is_part(std::string_view text) {
  for (auto at = text.find('{'); at != text.npos; at = text.find('{', at + 1)) {
    if (!parse_digits(text.substr(at))) return false;
  }
  return text == kAnyParts || text.find(kAnyParts) == text.npos;
}

// Splits off the text before the first slash, and the slash.
std::string_view take_part(std::string_view& text) {
  const auto part = text.substr(0, text.find('/'));
  text.remove_prefix(part.size() == text.size() ? part.size() : part.size() + 1);
  return part;
}

// The text of a part that is compared, and the place up to which it matches.
struct Place {
  std::string_view pattern;
  std::string_view text;
};

// Goes past what both begin with, which is no star. Returns whether they begin alike.
bool step(Place& at, std::string& content) {
  if (at.pattern.front() != '{') {
    if (at.pattern.front() != at.text.front()) return false;
    at.pattern.remove_prefix(1);
    at.text.remove_prefix(1);
    return true;
  }
  const auto digits = parse_digits(at.pattern);
  if (!digits || at.text.size() < digits->count) return false;
  const bool is_number = digits->count == 0;
  const auto hex =
      is_number ? http::leading(http::kDigit, at.text) : at.text.substr(0, digits->count);
  if (hex.empty() || !http::all(http::kHex, hex)) return false;
  if (!digits->algorithm.empty()) {
    content = std::string(digits->algorithm).append(":").append(http::lower(hex));
  }
  at.pattern.remove_prefix(digits->word.size());
  at.text.remove_prefix(hex.size());
  return true;
}

// Only the last star is given more bytes: whatever an earlier one took, the last can take, too.
bool matches_part(std::string_view pattern, std::string_view text, std::string& content) {
  Place at{pattern, text};
  std::optional<Place> star;  // behind the last one and the bytes that it takes
  for (;;) {
    if (at.pattern.starts_with('*')) {
      if (at.text.empty()) return false;
      at = {at.pattern.substr(1), at.text.substr(1)};
      star = at;
      continue;
    }
    if (at.pattern.empty() && at.text.empty()) return true;
    if (!at.pattern.empty() && !at.text.empty() && step(at, content)) continue;
    if (!star || star->text.empty()) return false;
    star->text.remove_prefix(1);
    at = *star;
  }
}

}  // namespace

std::optional<PathPattern> PathPattern::parse(std::string_view text) {
  if (!text.starts_with('/') || text.size() > kLongest) return std::nullopt;
  PathPattern pattern;
  pattern.may_have_query_ = text.ends_with(kAnyQuery);
  if (pattern.may_have_query_) text.remove_suffix(kAnyQuery.size());
  for (;;) {
    text.remove_prefix(1);
    const auto part = text.substr(0, text.find('/'));
    if (!is_part(part)) return std::nullopt;
    pattern.parts_.emplace_back(part);
    if (part.size() == text.size()) return pattern;
    text.remove_prefix(part.size());
  }
}

// Of the `**` as of the stars, only the last one takes more.
std::optional<PathPattern::Match> PathPattern::match(std::string_view path) const {
  const auto query = path.find('?');
  if (!path.starts_with('/') || (query != path.npos && !may_have_query_)) return std::nullopt;
  auto rest = path.substr(1, query == path.npos ? query : query - 1);
  Match match;
  std::size_t next = 0;  // of parts_
  bool ended = false;    // no part of the path is left
  struct Any {
    std::size_t next;
    std::string_view rest;
    Match match;
  };
  std::optional<Any> any;  // behind the last `**`
  for (;;) {
    if (next < parts_.size() && parts_[next] == kAnyParts) {
      any = {++next, rest, match};
      if (next == parts_.size()) return match;
      continue;
    }
    if (next == parts_.size() && ended) return match;
    if (next < parts_.size() && !ended) {
      const bool is_last = rest.find('/') == rest.npos;
      if (matches_part(parts_[next], take_part(rest), match.content)) {
        ++next;
        ended = is_last;
        continue;
      }
    }
    if (!any || any->rest.find('/') == any->rest.npos) return std::nullopt;
    take_part(any->rest);
    next = any->next;
    rest = any->rest;
    match = any->match;
    ended = false;
  }
}

}  // namespace proxy::mirrors
