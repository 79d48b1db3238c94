// A line with a pattern, and a path: what matches does so by the meaning of the signs, tried one
// by one.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "proxy/http/text.hpp"
#include "proxy/mirrors/path_pattern.hpp"
#include "tests/fuzz/take_line.hpp"

using namespace proxy;

namespace {

std::size_t digits_of(std::string_view word) {
  if (word == "{sha256}") return 64;
  if (word == "{sha512}") return 128;
  return static_cast<std::size_t>(http::parse_decimal(word.substr(4, word.size() - 5)).value());
}

// `pattern` begins behind a slash, and so does `path`, unless the path has ended.
bool matches(std::string_view pattern, std::string_view path, bool in_part) {
  if (!in_part && (pattern == "**" || pattern.starts_with("**/"))) {
    if (pattern == "**") return true;
    for (;;) {
      if (matches(pattern.substr(3), path, false)) return true;
      const auto slash = path.find('/');
      if (slash == path.npos) return false;
      path.remove_prefix(slash + 1);
    }
  }
  if (pattern.empty()) return path.empty();
  if (path.empty() && (pattern == "/**" || pattern.starts_with("/**/**")))
    return matches(pattern.substr(3), path, true);
  if (pattern.starts_with('*')) {
    for (std::size_t taken = 1; taken <= path.size() && path[taken - 1] != '/'; ++taken) {
      if (matches(pattern.substr(1), path.substr(taken), true)) return true;
    }
    return false;
  }
  if (pattern.starts_with('{')) {
    const auto word = pattern.substr(0, pattern.find('}') + 1);
    const auto count = digits_of(word);
    return path.size() >= count && http::all(http::kHex, path.substr(0, count)) &&
           matches(pattern.substr(word.size()), path.substr(count), true);
  }
  const bool same = !path.empty() && pattern.front() == path.front();
  return same && matches(pattern.substr(1), path.substr(1), pattern.front() != '/');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  std::string_view path(reinterpret_cast<const char*>(data), std::min<std::size_t>(size, 200));
  auto text = take_line(path);
  const auto pattern = mirrors::PathPattern::parse(text);
  if (!pattern) return 0;
  const bool takes_query = text.ends_with("?*");
  if (takes_query) text.remove_suffix(2);
  const auto match = pattern->match(path);
  if (std::ranges::count(text, '*') > 8) return 0;  // to try all would take too long
  const auto question = path.find('?');
  const bool wanted = path.starts_with('/') && (takes_query || question == path.npos) &&
                      matches(text.substr(1), path.substr(0, question).substr(1), false);
  if (match.has_value() != wanted) std::abort();
  if (match && !match->content.empty() && http::lower(match->content) != match->content)
    std::abort();
  return 0;
}
