#include "proxy/http/vary.hpp"

#include <algorithm>
#include <functional>

#include "proxy/http/field_id.hpp"
#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

constexpr std::size_t kMaxNames = 64;  // each is looked up in every request

std::optional<std::string> value_of(NormalForms& request, field id, std::string_view name) {
  const auto* const form = request.of(id, name);
  return form ? std::optional<std::string>(request.text(*form)) : std::nullopt;
}

// Writes %XX for a character that would end the quoted value of a mark, or that a reader would take
// for a part of the mark.
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

bool Variant::is_too_long(const Fields& response, const Fields& request) {
  if (!response.may_have(field::vary) && !request.any_selects()) return false;
  std::size_t bytes = 0;
  for (const Field& line : request) bytes += line.value.size();
  if (bytes <= NormalForms::kMostBytes) return false;
  std::vector<const Field*> others;
  for (const Field& line : request) {
    if (!line.selects) others.push_back(&line);
  }
  Members names(response, field::vary);
  for (std::size_t left = kMaxNames; left > 0; --left) {
    const auto name = names.next();
    if (!name) break;
    std::erase_if(others, [&](const Field* line) { return same_word(line->name, *name); });
  }
  for (const Field* const line : others) bytes -= line->value.size();
  return bytes > NormalForms::kMostBytes;
}

Variant::Variant(const Fields& response, const Fields& request) {
  NormalForms forms(request);
  *this = Variant(response, forms);
}

Variant::Variant(const Fields& response, NormalForms& request) {
  if (is_too_long(response, request.request())) {
    shared_ = never();
    return;
  }
  SelectingFields fields;
  Members names(response, field::vary);
  while (const auto name = names.next()) {
    if (*name == "*" || !is_token(*name) || fields.size() == kMaxNames) {
      shared_ = never();
      return;
    }
    const field id = field_id(*name);
    fields.push_back({id, lower(*name), value_of(request, id, *name)});
  }
  for (const Field& line : request.request()) {
    if (!line.selects) continue;
    if (fields.size() == kMaxNames) {
      shared_ = never();
      return;
    }
    fields.push_back({line.id, lower(line.name), value_of(request, line.id, line.name)});
  }
  const auto by_name = [](const SelectingField& a, const SelectingField& b) {
    return a.name < b.name;
  };
  const auto same = [](const SelectingField& a, const SelectingField& b) {
    return a.name == b.name;
  };
  std::sort(fields.begin(), fields.end(), by_name);
  fields.erase(std::unique(fields.begin(), fields.end(), same), fields.end());
  keep(std::move(fields));
}

const Variant::Pointer& Variant::never() {
  static const Pointer none(new Shared(SelectingFields()));
  return none;
}

void Variant::keep(SelectingFields fields) {
  for (SelectingField& one : fields) {
    one.digest = one.value ? std::hash<std::string_view>{}(*one.value) : 0;
  }
  if (!fields.empty()) shared_ = Pointer(new Shared(std::move(fields)));
}

const Variant::SelectingFields& Variant::selecting_fields() const {
  return (shared_ ? shared_ : never())->fields;
}

std::optional<Variant> Variant::of(SelectingFields fields) {
  if (fields.size() > kMaxNames) return std::nullopt;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    SelectingField& one = fields[i];
    if (!is_token(one.name) || lower(one.name) != one.name) return std::nullopt;
    if (i > 0 && one.name <= fields[i - 1].name) return std::nullopt;
    one.id = field_id(one.name);
  }
  Variant variant;
  variant.keep(std::move(fields));
  return variant;
}

bool Variant::names(const Field& line) const {
  return std::any_of(selecting_fields().begin(), selecting_fields().end(),
                     [&line](const SelectingField& one) { return same_word(one.name, line.name); });
}

bool Variant::matches(const Fields& request) const {
  NormalForms forms(request);
  return matches(forms);
}

bool Variant::matches(NormalForms& request) const {
  if (never_matches()) return false;
  std::size_t bytes = 0;
  for (const SelectingField& one : selecting_fields()) {
    const auto* const form = request.of(one.id, one.name);
    if (form) bytes += form->bytes;
    const bool same =
        form ? one.value && one.digest == form->digest && one.value == request.text(*form)
             : !one.value;
    if (!same || bytes > NormalForms::kMostBytes) return false;
  }
  const Fields& fields = request.request();
  return !fields.any_selects() ||
         std::none_of(fields.begin(), fields.end(),
                      [this](const Field& line) { return line.selects && !names(line); });
}

std::string Variant::mark() const {
  if (never_matches()) return "*";
  std::string text;
  for (const SelectingField& one : selecting_fields()) {
    if (!text.empty()) text += ", ";
    text += one.name;
    if (!one.value) continue;
    append_escaped(text += "=\"", *one.value);
    text += '"';
  }
  return text;
}

std::size_t Variant::footprint() const {
  if (!varies() || never_matches()) return 0;
  std::size_t bytes = sizeof(Shared) + shared_->fields.capacity() * sizeof(SelectingField);
  for (const SelectingField& one : shared_->fields)
    bytes += one.name.capacity() + (one.value ? one.value->capacity() : 0);
  return bytes;
}

}  // namespace proxy::http
