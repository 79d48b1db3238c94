#include "proxy/http/structured_fields.hpp"

#include <algorithm>

#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

bool is_key_char(char c) {
  return (c >= 'a' && c <= 'z') || is(kDigit, c) || c == '_' || c == '-' || c == '.' || c == '*';
}

template <class Accepts>
std::size_t run_of(std::string_view text, Accepts accepts) {
  return static_cast<std::size_t>(std::ranges::find_if_not(text, accepts) - text.begin());
}

}  // namespace

std::string BareItem::words() const {
  if (type == Type::token) return std::string(text);
  std::string plain;
  if (type != Type::string) return plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') ++i;  // another character follows: read_string() has checked that
    plain += text[i];
  }
  return plain;
}

const BareItem* Member::find(std::string_view wanted) const {
  const auto found = std::find_if(parameters.rbegin(), parameters.rend(),
                                  [&](const Parameter& one) { return one.key == wanted; });
  return found == parameters.rend() ? nullptr : &found->value;
}

StructuredReader::StructuredReader(std::string_view line, Structure structure)
    : rest_(line.substr(std::min(line.find_first_not_of(' '), line.size()))),
      structure_(structure) {
  while (!rest_.empty() && rest_.back() == ' ') rest_.remove_suffix(1);
}

std::optional<Member> StructuredReader::next() {
  if (failed_ || rest_.empty()) return std::nullopt;
  Member member;
  if (read(member)) return member;
  failed_ = true;
  return std::nullopt;
}

bool StructuredReader::read(Member& member) {
  const bool has_key = structure_ == Structure::dictionary;
  if (has_key) {
    const auto key = read_key();
    if (!key) return false;
    member.key = *key;
  }
  if (!has_key || skip('=')) {
    const auto item = has_key && at('(') ? read_inner_list() : read_item();
    if (!item) return false;
    member.item = *item;
  }
  return read_parameters(member) && read_separator();
}

// 4.2.3.2.
bool StructuredReader::read_parameters(Member& member) {
  while (skip(';')) {
    take(run_of(rest_, [](char c) { return c == ' '; }));
    const auto key = read_key();
    if (!key || member.parameters.size() == kMaxParameters) return false;
    BareItem value;
    if (skip('=')) {
      const auto given = read_item();
      if (!given) return false;
      value = *given;
    }
    member.parameters.push_back({*key, value});
  }
  return true;
}

// 4.2.3.3.
std::optional<std::string_view> StructuredReader::read_key() {
  if (rest_.empty() || !(at('*') || (rest_.front() >= 'a' && rest_.front() <= 'z'))) return {};
  return take(run_of(rest_, is_key_char));
}

// 4.2.1.2.
std::optional<BareItem> StructuredReader::read_inner_list() {
  const auto begin = rest_;
  const auto is_space = [](char c) { return c == ' '; };
  skip('(');
  for (bool first = true;; first = false) {
    const bool apart = !take(run_of(rest_, is_space)).empty();
    if (skip(')')) break;
    Member one;
    if (!(first || apart) || !read_item() || !read_parameters(one)) return std::nullopt;
  }
  const auto text = begin.substr(0, begin.size() - rest_.size());
  return BareItem{BareItem::Type::inner_list, text.substr(1, text.size() - 2)};
}

// Reads the end, or a comma followed by something.
bool StructuredReader::read_separator() {
  const auto is_space = [](char c) { return c == ' ' || c == '\t'; };
  take(run_of(rest_, is_space));
  if (rest_.empty()) return true;
  if (!skip(',')) return false;
  take(run_of(rest_, is_space));
  return !rest_.empty();
}

// 4.2.3.1.
std::optional<BareItem> StructuredReader::read_item() {
  if (rest_.empty()) return std::nullopt;
  const char first = rest_.front();
  if (first == '"') return read_string();
  if (first == ':') return read_bytes();
  if (first == '-' || is(kDigit, first)) return read_number();
  if (first == '?') {
    if (rest_.size() < 2 || (rest_[1] != '0' && rest_[1] != '1')) return std::nullopt;
    return BareItem{BareItem::Type::boolean, take(2).substr(1)};
  }
  if (first != '*' && !is_letter(first)) return std::nullopt;
  const auto in_token = [](char c) { return is(kTokenChar, c) || c == ':' || c == '/'; };
  return BareItem{BareItem::Type::token, take(run_of(rest_, in_token))};
}

// 4.2.5: printable ASCII; a backslash precedes a quote or a backslash, and nothing else.
std::optional<BareItem> StructuredReader::read_string() {
  for (std::size_t i = 1; i < rest_.size(); ++i) {
    const char c = rest_[i];
    if (c < 0x20 || c > 0x7e) return std::nullopt;
    if (c == '"') return BareItem{BareItem::Type::string, take(i + 1).substr(1, i - 1)};
    if (c != '\\') continue;
    ++i;
    if (i == rest_.size() || (rest_[i] != '"' && rest_[i] != '\\')) return std::nullopt;
  }
  return std::nullopt;
}

// 4.2.4: up to 15 digits, or up to 12, a point and up to 3.
std::optional<BareItem> StructuredReader::read_number() {
  const auto is_digit = [](char c) { return is(kDigit, c); };
  const std::size_t sign = at('-') ? 1 : 0;
  const auto whole = run_of(rest_.substr(sign), is_digit);
  if (whole == 0 || whole > 15) return std::nullopt;
  auto length = sign + whole;
  if (length < rest_.size() && rest_[length] == '.') {
    const auto fraction = run_of(rest_.substr(length + 1), is_digit);
    if (whole > 12 || fraction == 0 || fraction > 3) return std::nullopt;
    length += 1 + fraction;
  }
  return BareItem{BareItem::Type::number, take(length)};
}

// 4.2.7. The base64 is not decoded.
std::optional<BareItem> StructuredReader::read_bytes() {
  const auto end = rest_.find(':', 1);
  if (end == rest_.npos) return std::nullopt;
  const auto text = take(end + 1).substr(1, end - 1);
  const auto in_base64 = [](char c) {
    return is_letter(c) || is(kDigit, c) || c == '+' || c == '/' || c == '=';
  };
  if (run_of(text, in_base64) != text.size()) return std::nullopt;
  return BareItem{BareItem::Type::bytes, text};
}

bool StructuredReader::skip(char c) {
  if (!at(c)) return false;
  rest_.remove_prefix(1);
  return true;
}

std::string_view StructuredReader::take(std::size_t count) {
  const auto taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

}  // namespace proxy::http
