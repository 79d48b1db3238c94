#include "proxy/users/credentials.hpp"

#include <algorithm>

#include "config/text.hpp"
#include "digest/base64.hpp"
#include "proxy/http/text.hpp"

namespace proxy::users {
namespace {

constexpr std::string_view kScheme = "Basic ";
constexpr std::size_t kLongest = 1024;

}  // namespace

std::optional<Credentials> parse_basic(std::string_view value) {
  if (value.size() > kLongest || !http::same_word(value.substr(0, kScheme.size()), kScheme)) {
    return std::nullopt;
  }
  value.remove_prefix(std::min(value.find_first_not_of(' ', kScheme.size() - 1), value.size()));
  const auto bytes = digest::from_base64(value);
  // RFC 7617 section 2 allows no control characters in either.
  if (!bytes || std::any_of(bytes->begin(), bytes->end(), config::is_control)) return std::nullopt;
  const auto colon = std::find(bytes->begin(), bytes->end(), ':');
  if (colon == bytes->begin() || colon == bytes->end()) return std::nullopt;
  return Credentials{{bytes->begin(), colon}, {colon + 1, bytes->end()}};
}

std::string basic_challenge(std::string_view realm) {
  return "Basic realm=\"" + std::string(realm) + "\", charset=\"UTF-8\"";
}

}  // namespace proxy::users
