#include "proxy/pages/query.hpp"

#include <algorithm>

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

constexpr std::string_view kHalfEncoded =
    "% stands before two hexadecimal digits; one of a URL is written %25";

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
  if (!text) return QueryFault{std::string(kHalfEncoded)};
  return text;
}

boost::system::result<std::map<std::string, std::string, std::less<>>, QueryFault> parameters(
    std::string_view path, std::span<const std::string_view> known) {
  const auto mark = path.find('?');
  auto query = mark == path.npos ? std::string_view() : path.substr(mark + 1);
  std::map<std::string, std::string, std::less<>> values;
  while (!query.empty()) {
    const auto one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(one.size() + 1, query.size()));
    const auto equals = one.find('=');
    const auto name = one.substr(0, equals);
    if (std::find(known.begin(), known.end(), name) == known.end() || equals == one.npos) {
      return QueryFault{"this page knows no parameter " + std::string(one.substr(0, 40))};
    }
    auto value = decoded(one.substr(equals + 1));
    if (!value) return QueryFault{std::string(kHalfEncoded)};
    if (!values.emplace(name, std::move(*value)).second) {
      return QueryFault{"the parameter " + std::string(name) + " occurs twice"};
    }
  }
  return values;
}

}  // namespace proxy
