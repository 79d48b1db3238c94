#include "proxy/pages/query.hpp"

#include <algorithm>
#include <charconv>

namespace proxy::pages {
namespace {

// A `%` without two digits is a fault and not itself: half of an encoded URL would else name
// another URL, and a purge of that one would look like success.
std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::size_t taken = 1;
    // A plus sign is itself, as in a path, and no blank as in a form: URLs have some.
    auto byte = static_cast<unsigned char>(text.front());
    if (byte == '%') {
      if (text.size() < 3) return std::nullopt;
      const auto* const end = text.data() + 3;
      if (std::from_chars(text.data() + 1, end, byte, 16).ptr != end) return std::nullopt;
      taken = 3;
    }
    out += static_cast<char>(byte);
    text.remove_prefix(taken);
  }
  return out;
}

std::string_view query_of(std::string_view path) {
  const auto mark = path.find('?');
  return mark == path.npos ? std::string_view() : path.substr(mark + 1);
}

constexpr std::string_view kHalfEncoded =
    "% stands before two hexadecimal digits; one of a URL is written %25";

}  // namespace

boost::system::result<std::optional<std::string>, QueryFault> only_parameter(
    std::string_view path, std::string_view name) {
  const auto query = query_of(path);
  if (query.empty()) return std::optional<std::string>();
  if (name.empty()) return QueryFault{"this page knows no parameters"};
  const auto equals = query.find('=');
  if (query.substr(0, equals) != name || equals == query.npos) {
    return QueryFault{"this page knows the parameter " + std::string(name) + " alone"};
  }
  const auto value = query.substr(equals + 1);
  // Most likely a URL that was pasted without encoding: a purge of its first half would look like
  // success.
  if (value.find('&') != value.npos) {
    return QueryFault{"one parameter at most; a & of a URL is written %26"};
  }
  auto text = decoded(value);
  if (!text) return QueryFault{std::string(kHalfEncoded)};
  return text;
}

boost::system::result<std::map<std::string, std::string, std::less<>>, QueryFault> parameters(
    std::string_view path, std::span<const std::string_view> known) {
  auto query = query_of(path);
  std::map<std::string, std::string, std::less<>> values;
  while (!query.empty()) {
    const auto one = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(one.size() + 1, query.size()));
    const auto equals = one.find('=');
    const auto name = one.substr(0, equals);
    // A mistyped name that were passed over would give an answer to another question.
    if (std::find(known.begin(), known.end(), name) == known.end() || equals == one.npos) {
      return QueryFault{"this page knows no parameter " + std::string(one.substr(0, 40))};
    }
    auto value = decoded(one.substr(equals + 1));
    if (!value) return QueryFault{std::string(kHalfEncoded)};
    // Which of two values is meant, nobody can tell.
    if (!values.emplace(name, std::move(*value)).second) {
      return QueryFault{"the parameter " + std::string(name) + " occurs twice"};
    }
  }
  return values;
}

}  // namespace proxy::pages
