#include "proxy/cache/not_modified.hpp"

#include <algorithm>
#include <array>

#include "proxy/http/forwarding.hpp"
#include "proxy/http/text.hpp"
#include "proxy/http/validators.hpp"

namespace proxy::cache {
namespace {

// Fields of RFC 9110 8.3 to 8.5 and 14.4, RFC 9530 and RFC 1864.
bool describes_content(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kNames{
      "Content-Type", "Content-Encoding", "Content-Language", "Content-Range",
      "Content-MD5",  "Content-Digest",   "Repr-Digest",      "Digest"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [name](std::string_view one) { return http::same_word(one, name); });
}

}  // namespace

bool is_unmodified_for(const http::Fields& request, const Entry& entry, Time now) {
  if (!request.has(http::field::if_none_match) && !request.has(http::field::if_modified_since)) {
    return false;
  }
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  return entry.has_content() && http::not_modified(request, entry.validators(), second);
}

std::string not_modified_head(const Entry& entry) {
  std::string head;
  http::append_status_line(head, 304, http::reason_phrase(304));
  std::string_view lines = entry.head();
  lines.remove_prefix(lines.find("\r\n") + 2);
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find("\r\n") + 2);
    const std::string_view name = line.substr(0, line.find(':'));
    const bool said_by_tag = !entry.quotes().etag.empty() && http::same_word(name, "Last-Modified");
    if (!describes_content(name) && !said_by_tag) head += line;
    lines.remove_prefix(line.size());
  }
  return head;
}

}  // namespace proxy::cache
