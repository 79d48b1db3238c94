#include "proxy/http/vary.hpp"

#include <algorithm>

#include "proxy/http/normal_form.hpp"
#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

constexpr std::size_t kMaxNames = 64;  // each is looked up in every request

std::optional<std::string> value_of(const Fields& request, field id, std::string_view name) {
  NormalForm form;
  if (!append_normal_form(form, request, id, name)) return std::nullopt;
  return std::string(form.begin(), form.end());
}

// Writes %XX for characters that would end the quoted value of a mark or be mistaken for a part of
// it.
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
    never_ = *name == "*" || !is_token(*name) || fields_.size() == kMaxNames;
    if (never_) break;
    const field id = boost::beast::http::string_to_field(*name);
    fields_.push_back({id, lower(*name), value_of(request, id, *name)});
  }
  for (const Field& line : request) {
    if (never_ || !line.selects) continue;
    never_ = fields_.size() == kMaxNames;
    fields_.push_back({line.id, lower(line.name), value_of(request, line.id, line.name)});
  }
  if (never_) fields_.clear();
  const auto by_name = [](const SelectingField& a, const SelectingField& b) {
    return a.name < b.name;
  };
  const auto same = [](const SelectingField& a, const SelectingField& b) {
    return a.name == b.name;
  };
  std::sort(fields_.begin(), fields_.end(), by_name);
  fields_.erase(std::unique(fields_.begin(), fields_.end(), same), fields_.end());
}

std::optional<Variant> Variant::of(std::vector<SelectingField> fields) {
  if (fields.size() > kMaxNames) return std::nullopt;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    SelectingField& one = fields[i];
    if (!is_token(one.name) || lower(one.name) != one.name) return std::nullopt;
    if (i > 0 && one.name <= fields[i - 1].name) return std::nullopt;
    one.id = boost::beast::http::string_to_field(one.name);
  }
  Variant variant;
  variant.fields_ = std::move(fields);
  return variant;
}

bool Variant::names(const Field& line) const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [&line](const SelectingField& one) { return same_word(one.name, line.name); });
}

bool Variant::matches(const Fields& request) const {
  if (never_) return false;
  if (request.any_selects() &&
      std::any_of(request.begin(), request.end(),
                  [this](const Field& line) { return line.selects && !names(line); })) {
    return false;
  }
  return std::all_of(fields_.begin(), fields_.end(), [&](const SelectingField& one) {
    NormalForm form;
    if (!append_normal_form(form, request, one.id, one.name)) return !one.value;
    return one.value == std::string_view(form.data(), form.size());
  });
}

std::string Variant::mark() const {
  if (never_) return "*";
  std::string text;
  for (const SelectingField& one : fields_) {
    if (!text.empty()) text += ", ";
    text += one.name;
    if (!one.value) continue;
    append_escaped(text += "=\"", *one.value);
    text += '"';
  }
  return text;
}

std::size_t Variant::footprint() const {
  std::size_t bytes = fields_.capacity() * sizeof(SelectingField);
  for (const SelectingField& one : fields_)
    bytes += one.name.capacity() + (one.value ? one.value->capacity() : 0);
  return bytes;
}

}  // namespace proxy::http
