#include "proxy/http/signed_range.hpp"

#include <algorithm>
#include <array>

#include "proxy/http/text.hpp"

namespace proxy::http {
namespace {

bool is_signature(std::string_view parameter) {
  constexpr std::array<std::string_view, 3> kNames{"X-Amz-Signature", "X-Goog-Signature",
                                                   "Signature"};
  const auto name = parameter.substr(0, parameter.find('='));
  return std::any_of(kNames.begin(), kNames.end(),
                     [name](std::string_view one) { return same_word(one, name); });
}

bool has_signature(std::string_view target) {
  auto query = target.substr(std::min(target.find('?'), target.size()));
  while (!query.empty()) {
    query.remove_prefix(1);
    const auto end = std::min(query.find('&'), query.size());
    if (is_signature(query.substr(0, end))) return true;
    query.remove_prefix(end);
  }
  return false;
}

bool is_of_a_name(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
         c == '_';
}

// Whether the value lists the field Range among others, in whatever syntax.
bool names_range(std::string_view value) {
  constexpr std::string_view kRange = "range";
  for (std::size_t at = 0; at + kRange.size() <= value.size(); ++at) {
    const auto end = at + kRange.size();
    const bool apart = (at == 0 || !is_of_a_name(value[at - 1])) &&
                       (end == value.size() || !is_of_a_name(value[end]));
    if (apart && same_word(value.substr(at, kRange.size()), kRange)) return true;
  }
  return false;
}

}  // namespace

bool signs_range(const RequestHead& request) {
  if (has_signature(request.target)) return true;
  return std::any_of(request.fields.begin(), request.fields.end(), [](const Field& line) {
    const bool signs = line.id == field::authorization || same_word(line.name, "Signature") ||
                       same_word(line.name, "Signature-Input");
    return signs && names_range(line.value);
  });
}

}  // namespace proxy::http
