#include "proxy/pages/badge_cookie.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "proxy/http/forwarding.hpp"

namespace proxy {
namespace {

constexpr std::string_view kBadgePaths[] = {"/hearsay/", "/admin/", "/digest", "/metrics",
                                            "/health"};
constexpr std::size_t kMostShown = 4;

std::string name_of_cookie(const http::Target& target) {
  return fmt::format("{}{}", http::kSignInCookie, target.port());
}

}  // namespace

std::vector<std::string_view> badges_shown(const Request& request) {
  std::vector<std::string_view> badges;
  const auto begin = name_of_cookie(request.target) + '=';
  for (const auto& line : request.head.fields) {
    if (line.id != http::field::cookie) continue;
    for (auto rest = line.value; !rest.empty() && badges.size() < kMostShown;) {
      const auto cookie = http::next_cookie(rest);
      if (cookie.starts_with(begin)) badges.push_back(cookie.substr(begin.size()));
    }
  }
  return badges;
}

bool is_signed_in(const PagesAccess& pages, const Client& client, const Request& request) {
  // The pages of a mapped site have the same origin, and would act with the badge.
  if (request.mapping() || !request.head.fields.has(http::field::cookie)) return false;
  const auto badges = badges_shown(request);
  const auto now = pages.clock().steady();
  return std::any_of(badges.begin(), badges.end(), [&](std::string_view badge) {
    return pages.visitors.badges.counts(badge, client.address, now);
  });
}

std::vector<std::string> badge_cookies(const http::Target& target, std::string_view badge) {
  const std::chrono::seconds lasts =
      badge.empty() ? std::chrono::seconds(0) : std::chrono::seconds(Badges::kBadgeLasts);
  std::vector<std::string> cookies;
  for (const auto path : kBadgePaths) {
    cookies.push_back(fmt::format("{}={}; Path={}; Max-Age={}; HttpOnly; SameSite=Strict{}",
                                  name_of_cookie(target), badge, path, lasts.count(),
                                  target.https() ? "; Secure" : ""));
  }
  return cookies;
}

}  // namespace proxy
