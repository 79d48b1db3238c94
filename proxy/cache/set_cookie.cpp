#include "proxy/cache/set_cookie.hpp"

#include <algorithm>

#include "proxy/http/text.hpp"

namespace proxy::cache {

bool sets_cookie(const http::Fields& response) {
  return response.has(http::field::set_cookie);
}

bool sets_cookie(std::string_view head) {
  constexpr std::string_view kName = "Set-Cookie";
  while (!head.empty()) {
    const auto line = head.substr(0, head.find("\r\n"));
    const bool named = line.size() > kName.size() && line[kName.size()] == ':';
    if (named && http::same_word(line.substr(0, kName.size()), kName)) return true;
    head.remove_prefix(std::min(head.size(), line.size() + 2));
  }
  return false;
}

}  // namespace proxy::cache
