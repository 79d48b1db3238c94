#include "proxy/http/vary.hpp"

#include <algorithm>
#include <functional>

#include "proxy/http/forwarding.hpp"
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
  for (const char c : value) {
    if (c > 0x20 && c < 0x7f && c != '"' && c != '%') {
      out += c;
    } else {
      append_percent_encoded(out, c);
    }
  }
}

using NormalForm = boost::container::small_vector<char, 256>;

bool is_of(const Field& line, field id, std::string_view name) {
  return line.id == id && (id != field::unknown || same_word(line.name, name));
}

enum class Syntax {
  single,          // not a list: a comma does not separate
  list,            // the order of members and empty members may have a meaning
  weighted,        // RFC 9110 12.4.2: the weights express all preference, the order none
  weighted_words,  // the same, and case does not matter
};

Syntax syntax_of(field id) {
  constexpr FieldSet kSingle(field::authorization, field::cookie, field::cookie2, field::date,
                             field::from, field::host, field::if_modified_since, field::if_range,
                             field::if_unmodified_since, field::origin, field::referer,
                             field::proxy_authorization, field::user_agent);
  constexpr FieldSet kWords(field::accept_charset, field::accept_encoding, field::accept_language);
  // RFC 9110 12.5.1: parameters of a media type may have a case that matters.
  if (id == field::accept) return Syntax::weighted;
  if (kWords.has(id)) return Syntax::weighted_words;
  return kSingle.has(id) ? Syntax::single : Syntax::list;
}

void append(NormalForm& out, std::string_view text) {
  out.insert(out.end(), text.begin(), text.end());
}

// "0.500" becomes "0.5", "1." becomes "1".
std::string_view shortest_weight(std::string_view weight) {
  if (weight.find('.') == weight.npos) return weight;
  weight = weight.substr(0, weight.find_last_not_of('0') + 1);
  if (weight.back() == '.') weight.remove_suffix(1);
  return weight;
}

// `A ; q=0.50` becomes `a;q=0.5`, and a weight of 1 is left out. A quote may hide a semicolon, so a
// member with one stays as it is.
void append_weighted(NormalForm& out, std::string_view member, bool any_case) {
  if (member.find('"') != member.npos) return append(out, member);
  for (bool first = true;; first = false) {
    const std::size_t end = std::min(member.find(';'), member.size());
    const std::string_view part = trim(member.substr(0, end));
    const bool is_weight = !first && same_word(part.substr(0, 2), "q=");
    const std::string_view value = is_weight ? shortest_weight(part.substr(2)) : part;
    if (!is_weight || value != "1") {
      append(out, first ? "" : is_weight ? ";q=" : ";");
      for (const char c : value) out.push_back(any_case ? lower(c) : c);
    }
    if (end == member.size()) return;
    member.remove_prefix(end + 1);
  }
}

// Appends each member, also an empty one, followed by a comma.
void append_members(NormalForm& out, std::string_view line) {
  for (bool more = true; more;) {
    const auto end = member_end(line);
    append(out, trim(line.substr(0, end)));
    out.push_back(',');
    more = end < line.size();
    if (more) line.remove_prefix(end + 1);
  }
}

void append_sorted(NormalForm& out, const Fields& request, field id, bool any_case) {
  struct Extent {
    std::size_t begin, size;
  };
  NormalForm text;
  boost::container::small_vector<Extent, 16> extents;
  Members members(request, id);
  while (const auto member = members.next()) {
    const std::size_t begin = text.size();
    append_weighted(text, *member, any_case);
    extents.push_back({begin, text.size() - begin});
  }
  const auto written = [&](Extent at) { return std::string_view(text.data() + at.begin, at.size); };
  std::ranges::sort(extents, [&](Extent a, Extent b) { return written(a) < written(b); });
  for (const Extent& extent : extents) {
    append(out, written(extent));
    out.push_back(',');
  }
  if (!extents.empty()) out.pop_back();
}

// Finds the field by id, or by name if the id is `unknown`. Returns false if there is none.
bool append_normal_form(NormalForm& out, const Fields& request, field id, std::string_view name) {
  const auto is_ours = [&](const Field& line) { return is_of(line, id, name); };
  if (std::ranges::none_of(request, is_ours)) return false;
  const Syntax syntax = syntax_of(id);
  if (syntax == Syntax::weighted || syntax == Syntax::weighted_words) {
    append_sorted(out, request, id, syntax == Syntax::weighted_words);
    return true;
  }
  const auto before = out.size();
  for (const Field& line : request) {
    if (!is_ours(line)) continue;
    if (id == field::cookie && line.value.find(kSignInCookie) != line.value.npos) {
      // An origin does not see a browser's sign-in, so no response depends on it.
      const auto others = other_cookies(line.value);
      if (others.empty()) continue;
      append(out, others);
      out.push_back(',');
    } else if (syntax == Syntax::list) {
      append_members(out, line.value);
    } else {
      append(out, line.value);
      out.push_back(',');
    }
  }
  if (out.size() == before) return false;
  out.pop_back();
  return true;
}

// The fields that select, in any order and perhaps twice. Nothing if no request can match.
std::optional<Variant::SelectingFields> selecting(const Fields& response, NormalForms& request) {
  if (Variant::is_too_long(response, request.request())) return std::nullopt;
  Variant::SelectingFields fields;
  const auto add = [&](field id, std::string_view name) {
    if (fields.size() == kMaxNames) return false;
    fields.push_back({id, lower(name), value_of(request, id, name)});
    return true;
  };
  Members names(response, field::vary);
  while (const auto name = names.next()) {
    const bool is_read = *name != "*" && is_token(*name);
    if (!is_read || !add(field_id(*name), *name)) return std::nullopt;
  }
  for (const Field& line : request.request()) {
    if (line.selects && !add(line.id, line.name)) return std::nullopt;
  }
  return fields;
}

}  // namespace

bool Variant::is_too_long(const Fields& response, const Fields& request) {
  if (!response.may_have(field::vary) && !request.any_selects()) return false;
  std::size_t bytes = 0;
  for (const Field& line : request) bytes += line.value.size();
  // The sum of all values bounds that of the selecting ones: most requests cost one pass.
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
  auto fields = selecting(response, request);
  if (!fields) {
    shared_ = never();
    return;
  }
  std::ranges::sort(*fields, {}, &SelectingField::name);
  const auto same = [](const SelectingField& a, const SelectingField& b) {
    return a.name == b.name;
  };
  fields->erase(std::unique(fields->begin(), fields->end(), same), fields->end());
  keep(std::move(*fields));
}

const Variant::Pointer& Variant::never() {
  // One object for all, so that a comparison of pointers recognizes it.
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
  return std::ranges::any_of(selecting_fields(), [&line](const SelectingField& one) {
    return same_word(one.name, line.name);
  });
}

bool Variant::matches(const Fields& request) const {
  NormalForms forms(request);
  return matches(forms);
}

bool Variant::matches(NormalForms& request) const {
  // Without the bound, one request could make each variant of a URL cost a long comparison.
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
  return !fields.any_selects() || std::ranges::none_of(fields, [this](const Field& line) {
    return line.selects && !names(line);
  });
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

const NormalForms::Form* NormalForms::of(field id, std::string_view name) {
  const auto made =
      std::ranges::find_if(forms_, [&](const Form& form) { return is_of(*form.first, id, name); });
  if (made != forms_.end()) return &*made;
  if (!request_.may_have(id)) return nullptr;
  Form form{nullptr, 0, text_.size(), 0, 0};
  for (const Field& line : request_) {
    if (!is_of(line, id, name)) continue;
    if (!form.first) form.first = &line;
    form.bytes += line.value.size();
  }
  if (!form.first) return nullptr;
  if (form.bytes <= kMostBytes && !append_normal_form(text_, request_, id, name)) return nullptr;
  form.size = text_.size() - form.begin;
  form.digest = std::hash<std::string_view>{}(text(form));
  return &forms_.emplace_back(form);
}

}  // namespace proxy::http
