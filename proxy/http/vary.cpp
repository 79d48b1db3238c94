#include "proxy/http/vary.hpp"

#include <algorithm>

#include "proxy/http/normal_form.hpp"
#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

constexpr std::size_t kMaxNames = 64;  // each is looked for in every request

std::optional<std::string> value_of(const Fields& request, field id, std::string_view name) {
  NormalForm form;
  if (!append_normal_form(form, request, id, name)) return std::nullopt;
  return std::string(form.begin(), form.end());
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

std::optional<Variant> Variant::of(std::vector<Selector> selectors) {
  if (selectors.size() > kMaxNames) return std::nullopt;
  for (std::size_t i = 0; i < selectors.size(); ++i) {
    Selector& selector = selectors[i];
    if (!is_token(selector.name) || lower(selector.name) != selector.name) return std::nullopt;
    if (i > 0 && selector.name <= selectors[i - 1].name) return std::nullopt;
    selector.id = boost::beast::http::string_to_field(selector.name);
  }
  Variant variant;
  variant.selectors_ = std::move(selectors);
  return variant;
}

bool Variant::matches(const Fields& request) const {
  if (never_) return false;
  return std::all_of(selectors_.begin(), selectors_.end(), [&](const Selector& selector) {
    NormalForm form;
    if (!append_normal_form(form, request, selector.id, selector.name)) return !selector.value;
    return selector.value == std::string_view(form.data(), form.size());
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
