#include "proxy/lists/access_lists.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/http/target.hpp"

namespace proxy::lists {
namespace {

constexpr std::string_view kCodedDot = "%2e";

// RFC 3986 6.2.2.2: a coded unreserved character means the character itself.
bool is_coded_dot(std::string_view text) {
  return text.starts_with(kCodedDot) || text.starts_with("%2E");
}

// The path with "%2e" decoded. The query stays as it is.
std::string with_plain_dots(std::string_view path) {
  std::string plain;
  const auto query = std::min(path.find('?'), path.size());
  for (std::size_t at = 0; at < query;) {
    const bool coded = is_coded_dot(path.substr(at));
    plain += coded ? '.' : path[at];
    at += coded ? kCodedDot.size() : 1;
  }
  return plain += path.substr(query);
}

// The target without dot segments, as its origin may read it. Nothing if the target has none.
std::optional<http::Target> without_dot_segments(const http::Target& target) {
  if (target.form() == http::Target::Form::authority) return std::nullopt;
  const auto path = target.path();
  if (path.find("/.") == path.npos && path.find("/%2") == path.npos) return std::nullopt;
  const auto url = std::string(target.scheme()) + "://" + std::string(target.authority());
  const auto resolved = http::resolve(target, url + with_plain_dots(path));
  if (!resolved || resolved->url() == target.url()) return std::nullopt;
  return *resolved;
}

}  // namespace

bool AccessLists::blocks(const http::Target& target) const {
  if (block_.entries() == 0) return false;
  const auto other = without_dot_segments(target);
  if (!other) return block_.names(target) && !allow_.names(target);
  // The stricter of the two readings, since nobody knows how the origin reads the URL.
  const bool blocked = block_.names(target) || block_.names(*other);
  return blocked && !(allow_.names(target) && allow_.names(*other));
}

bool AccessLists::lifts_addresses(const http::Target& target) const {
  if (!block_.has_addresses() || !allow_.names(target)) return false;
  const auto other = without_dot_segments(target);
  return !other || allow_.names(*other);
}

}  // namespace proxy::lists
