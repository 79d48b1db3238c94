#include "proxy/http/normal_form.hpp"

#include <algorithm>
#include <functional>

#include "proxy/http/forwarding.hpp"
#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

bool is_of(const Field& line, field id, std::string_view name) {
  return line.id == id && (id != field::unknown || same_word(line.name, name));
}

enum class Kind {
  single,          // not a list: a comma does not separate
  list,            // the order of members and empty members may have a meaning
  weighted,        // RFC 9110 12.4.2: the weights express all preference, the order none
  weighted_words,  // the same, and case does not matter
};

Kind kind_of(field id) {
  switch (id) {
    case field::accept:
      return Kind::weighted;
    case field::accept_charset:
    case field::accept_encoding:
    case field::accept_language:
      return Kind::weighted_words;
    case field::authorization:
    case field::cookie:
    case field::cookie2:
    case field::date:
    case field::from:
    case field::host:
    case field::if_modified_since:
    case field::if_range:
    case field::if_unmodified_since:
    case field::origin:
    case field::proxy_authorization:
    case field::referer:
    case field::user_agent:
      return Kind::single;
    default:
      return Kind::list;
  }
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
  struct Place {
    std::size_t begin, size;
  };
  NormalForm text;
  boost::container::small_vector<Place, 16> places;
  Members members(request, id);
  while (const auto member = members.next()) {
    const std::size_t begin = text.size();
    append_weighted(text, *member, any_case);
    places.push_back({begin, text.size() - begin});
  }
  const auto written = [&](Place at) { return std::string_view(text.data() + at.begin, at.size); };
  std::sort(places.begin(), places.end(),
            [&](Place a, Place b) { return written(a) < written(b); });
  for (const Place& place : places) {
    append(out, written(place));
    out.push_back(',');
  }
  if (!places.empty()) out.pop_back();
}

}  // namespace

bool append_normal_form(NormalForm& out, const Fields& request, field id, std::string_view name) {
  const auto is_ours = [&](const Field& line) { return is_of(line, id, name); };
  if (std::none_of(request.begin(), request.end(), is_ours)) return false;
  const Kind kind = kind_of(id);
  if (kind == Kind::weighted || kind == Kind::weighted_words) {
    append_sorted(out, request, id, kind == Kind::weighted_words);
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
    } else if (kind == Kind::list) {
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

const NormalForms::Form* NormalForms::of(field id, std::string_view name) {
  const auto made = std::find_if(forms_.begin(), forms_.end(),
                                 [&](const Form& form) { return is_of(*form.first, id, name); });
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
