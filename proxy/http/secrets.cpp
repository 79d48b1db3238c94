#include "proxy/http/secrets.hpp"

#include <algorithm>
#include <string>

#include "proxy/http/text.hpp"

namespace proxy::http {

bool may_be_secret(std::string_view name) {
  constexpr std::string_view kTelling[] = {"auth", "cookie", "token", "key", "secret", "password"};
  const auto text = lower(name);
  return std::ranges::any_of(
      kTelling, [&text](std::string_view word) { return text.find(word) != std::string::npos; });
}

bool shows_secret(const Fields& fields) {
  return std::any_of(fields.begin(), fields.end(), [](const auto& line) {
    return line.id != field::proxy_authorization && may_be_secret(line.name);
  });
}

// Of the storages that clouds have.
bool has_signed_query(std::string_view url) {
  constexpr std::string_view kSignatures[] = {
      "x-amz-signature=", "x-goog-signature=", "signature=", "sig="};
  const auto question = url.find('?');
  if (question == url.npos) return false;
  auto query = lower(url.substr(question));  // each parameter after "?" or "&"
  return std::ranges::any_of(kSignatures, [&query](std::string_view name) {
    for (auto at = query.find(name); at != query.npos; at = query.find(name, at + 1)) {
      if (query[at - 1] == '?' || query[at - 1] == '&') return true;
    }
    return false;
  });
}

}  // namespace proxy::http
