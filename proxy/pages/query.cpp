#include "proxy/pages/query.hpp"

namespace proxy {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? digit_of(text[i + 2]) : -1;
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

}  // namespace

boost::system::result<std::optional<std::string>, QueryFault> only_parameter(
    std::string_view path, std::string_view name) {
  const auto mark = path.find('?');
  const auto query = mark == path.npos ? std::string_view() : path.substr(mark + 1);
  if (query.empty()) return std::optional<std::string>();
  if (name.empty()) return QueryFault{"this page knows no parameters"};
  const auto equals = query.find('=');
  if (query.substr(0, equals) != name || equals == query.npos) {
    return QueryFault{"this page knows the parameter " + std::string(name) + " alone"};
  }
  const auto value = query.substr(equals + 1);
  if (value.find('&') != value.npos) {
    return QueryFault{"one parameter at most; a & of a URL is written %26"};
  }
  auto text = decoded(value);
  if (!text) {
    return QueryFault{"% stands before two hexadecimal digits; one of a URL is written %25"};
  }
  return text;
}

}  // namespace proxy
