#include "proxy/policy/content.hpp"

#include "proxy/policy/policy.hpp"
#include "proxy/policy/request.hpp"

namespace proxy::policy {

std::optional<mirrors::ContentName> content_of(const Request& request) {
  const auto text = request.rule() ? request.rule()->content_name(request.target) : std::nullopt;
  return text ? mirrors::ContentName::parse(*text) : std::nullopt;
}

std::optional<mirrors::ContentName> digest_of(const http::Fields& answer, const Request& request) {
  if (answer.has(http::field::content_encoding)) return std::nullopt;
  const auto name = content_of(request);
  return name ? name : mirrors::ContentName::said_by(answer);
}

}  // namespace proxy::policy
