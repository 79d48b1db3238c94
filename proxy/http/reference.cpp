#include "proxy/http/reference.hpp"

#include <algorithm>
#include <string>

namespace proxy::http {
namespace {

bool has_scheme(std::string_view reference) {
  const std::size_t colon = reference.find(':');
  return colon != std::string_view::npos && colon < reference.find_first_of("/?");
}

// RFC 3986 5.2.4. `path` begins with a slash.
void append_without_dots(std::string& out, std::string_view path) {
  const std::size_t root = out.size();
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view segment = path.substr(0, path.find('/'));
    path.remove_prefix(segment.size());
    const bool up = segment == "..";
    if (up && out.size() > root) out.resize(out.rfind('/'));
    if (!up && segment != ".") {
      (out += '/') += segment;
    } else if (path.empty()) {
      out += '/';
    }
  }
}

// Path and query of the result, including dot segments, for a reference without an authority.
std::string merged(std::string_view base, std::string_view reference) {
  if (reference.empty()) return std::string(base);
  if (reference.front() == '/') return std::string(reference);
  std::string_view path = base.substr(0, base.find('?'));
  if (reference.front() != '?') path = path.substr(0, path.rfind('/') + 1);
  return std::string(path).append(reference);
}

}  // namespace

HeadResult<Target> resolve(const Target& base, std::string_view reference) {
  reference = reference.substr(0, reference.find('#'));
  if (base.host().empty() || reference.size() > kMaxUrl) return HeadError::bad_target;
  std::string url;
  std::string path;
  if (has_scheme(reference) || reference.substr(0, 2) == "//") {
    const std::size_t slashes = reference.find("//");
    if (slashes == std::string_view::npos) return HeadError::bad_target;
    const std::size_t end = reference.find_first_of("/?", slashes + 2);
    if (slashes == 0) (url = base.scheme()) += ':';
    url += reference.substr(0, end);
    path = reference.substr(std::min(end, reference.size()));
  } else {
    (((url = base.scheme()) += "://") += base.authority());
    path = merged(base.path(), reference);
  }
  if (path.empty() || path.front() != '/') path.insert(path.begin(), '/');
  const std::size_t query = std::min(path.find('?'), path.size());
  append_without_dots(url, std::string_view(path).substr(0, query));
  url.append(path, query);
  return parse_target("GET", url);
}

bool same_origin(const Target& a, const Target& b) {
  return a.https() == b.https() && a.port() == b.port() && a.host() == b.host();
}

}  // namespace proxy::http
