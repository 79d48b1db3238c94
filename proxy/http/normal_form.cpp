#include "proxy/http/normal_form.hpp"

#include <algorithm>

#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

enum class Kind {
  single,          // a comma in it separates nothing
  list,            // in the order in which it is written
  weighted,        // RFC 9110 12.4.2: the weights say all there is to say of the order
  weighted_words,  // and case means nothing
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

// "0.500" as "0.5", "1." as "1".
std::string_view shortest_weight(std::string_view weight) {
  if (weight.find('.') == weight.npos) return weight;
  weight = weight.substr(0, weight.find_last_not_of('0') + 1);
  if (weight.back() == '.') weight.remove_suffix(1);
  return weight;
}

// `A ; q=0.50` as `a;q=0.5`, and a weight of 1 not at all. A quote may hide a semicolon: such a
// member stays as it is.
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

template <class Each>
void for_each_member(const Fields& request, field id, std::string_view name, Each each) {
  for (const Field& line : request) {
    if (line.id != id || (id == field::unknown && !same_word(line.name, name))) continue;
    Members members(line.value);
    while (const auto member = members.next()) each(*member);
  }
}

void append_sorted(NormalForm& out, const Fields& request, field id, bool any_case) {
  struct Place {
    std::size_t begin, size;
  };
  NormalForm text;
  boost::container::small_vector<Place, 16> places;
  for_each_member(request, id, {}, [&](std::string_view member) {
    const std::size_t begin = text.size();
    append_weighted(text, member, any_case);
    places.push_back({begin, text.size() - begin});
  });
  const auto written = [&](Place at) { return std::string_view(text.data() + at.begin, at.size); };
  std::sort(places.begin(), places.end(),
            [&](Place a, Place b) { return written(a) < written(b); });
  for (const Place& place : places) {
    append(out, written(place));
    out.push_back(',');
  }
}

}  // namespace

bool append_normal_form(NormalForm& out, const Fields& request, field id, std::string_view name) {
  const auto is_ours = [&](const Field& line) {
    return line.id == id && (id != field::unknown || same_word(line.name, name));
  };
  const auto first = std::find_if(request.begin(), request.end(), is_ours);
  if (first == request.end()) return false;
  const Kind kind = kind_of(id);
  if (kind == Kind::weighted || kind == Kind::weighted_words) {
    append_sorted(out, request, id, kind == Kind::weighted_words);
  } else if (kind == Kind::single) {
    append(out, first->value);
    for (auto line = std::find_if(first + 1, request.end(), is_ours); line != request.end();
         line = std::find_if(line + 1, request.end(), is_ours)) {
      out.push_back(',');
      append(out, line->value);
    }
  } else {
    for_each_member(request, id, name, [&](std::string_view member) {
      append(out, member);
      out.push_back(',');
    });
  }
  if (kind != Kind::single && !out.empty()) out.pop_back();
  return true;
}

}  // namespace proxy::http
