#include "proxy/http/vary.hpp"

#include <algorithm>

#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

constexpr std::size_t kMaxNames = 64;  // each is looked for in every request

enum class Spelling { exact, no_spaces, no_spaces_lower };

Spelling spelling_of(field id) {
  if (id == field::accept) return Spelling::no_spaces;
  if (id == field::accept_encoding || id == field::accept_language)
    return Spelling::no_spaces_lower;
  return Spelling::exact;
}

void append_spelt(std::string& out, std::string_view value, Spelling spelling) {
  if (spelling == Spelling::exact) {
    out += value;
    return;
  }
  for (const char c : value)
    if (c != ' ' && c != '\t') out += spelling == Spelling::no_spaces_lower ? lower(c) : c;
}

// All lines of one field as one value (RFC 9110 5.2), or nothing where there is none.
std::optional<std::string> value_of(const Fields& request, field id, std::string_view name) {
  std::optional<std::string> value;
  for (const Field& line : request) {
    if (line.id != id || (id == field::unknown && !same_word(line.name, name))) continue;
    if (!value)
      value.emplace();
    else
      *value += ',';
    append_spelt(*value, line.value, spelling_of(id));
  }
  return value;
}

// What would end or confuse the quoted value of a mark is written %XX.
void append_escaped(std::string& out, std::string_view value) {
  constexpr std::string_view kHexDigits = "0123456789ABCDEF";
  for (const char c : value) {
    if (c > 0x20 && c < 0x7f && c != '"' && c != '%') {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    ((out += '%') += kHexDigits[byte >> 4]) += kHexDigits[byte & 15];
  }
}

}  // namespace

Variant::Variant(const Fields& response, const Fields& request) {
  Members names(response, field::vary);
  while (const auto name = names.next()) {
    never_ = *name == "*" || !is_token(*name) || selectors_.size() == kMaxNames;
    if (never_) break;
    const field id = boost::beast::http::string_to_field(*name);
    selectors_.push_back({id, lower(*name), value_of(request, id, *name)});
  }
  if (never_) selectors_.clear();
  const auto by_name = [](const Selector& a, const Selector& b) { return a.name < b.name; };
  const auto same = [](const Selector& a, const Selector& b) { return a.name == b.name; };
  std::sort(selectors_.begin(), selectors_.end(), by_name);
  selectors_.erase(std::unique(selectors_.begin(), selectors_.end(), same), selectors_.end());
}

bool Variant::matches(const Fields& request) const {
  if (never_) return false;
  return std::all_of(selectors_.begin(), selectors_.end(), [&](const Selector& selector) {
    return value_of(request, selector.id, selector.name) == selector.value;
  });
}

std::string Variant::mark() const {
  if (never_) return "*";
  std::string text;
  for (const Selector& selector : selectors_) {
    if (!text.empty()) text += ", ";
    text += selector.name;
    if (!selector.value) continue;
    append_escaped(text += "=\"", *selector.value);
    text += '"';
  }
  return text;
}

std::size_t Variant::footprint() const {
  std::size_t bytes = selectors_.capacity() * sizeof(Selector);
  for (const Selector& selector : selectors_)
    bytes += selector.name.capacity() + (selector.value ? selector.value->capacity() : 0);
  return bytes;
}

}  // namespace proxy::http
