#include "proxy/pages/sign_in.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/udp.hpp>

#include "proxy/http/forwarding.hpp"
#include "proxy/http/text.hpp"

namespace proxy::pages {

namespace beast = boost::beast;

namespace asio = net::asio;

namespace {

constexpr std::string_view kBadgePaths[] = {"/hearsay/", "/admin/", "/digest", "/metrics",
                                            "/health"};
constexpr std::size_t kMostShownBadges = 4;  // each is compared with all badges

// Browsers do not tell the ports of a host apart (RFC 6265 8.5), so the name does: several proxies
// may run on one machine.
std::string name_of_cookie(const http::Target& target) {
  return fmt::format("{}{}", http::kSignInCookie, target.port());
}

using IpAddress = asio::ip::address;

// The address of this machine from which packets leave it. Connecting a socket of UDP sends none.
std::optional<IpAddress> address_of_machine(const net::Executor& executor) {
  constexpr std::uint32_t kElsewhere = 0xC0000201;  // 192.0.2.1 (RFC 5737)
  net::error_code error;
  asio::ip::udp::socket socket(executor);
  socket.connect({asio::ip::address_v4(kElsewhere), 9}, error);
  const auto local = error ? asio::ip::udp::endpoint() : socket.local_endpoint(error);
  if (error) return std::nullopt;
  return local.address();
}

int openness(const net::tcp::endpoint& socket) {
  if (socket.address().is_unspecified()) return 2;
  return socket.address().is_loopback() ? 0 : 1;
}

std::string in_url(const IpAddress& address) {
  if (address.is_v4()) return address.to_string();
  // Without the scope of the address, which means nothing on another machine.
  return fmt::format("[{}]", asio::ip::address_v6(address.to_v6().to_bytes()).to_string());
}

// The connection is not used any more if the request has a body, which nobody reads.
PageAnswer send_signed(const Visit& visit, std::string json,
                       const std::vector<std::string>& cookies = {}) {
  if (visit.request.framing.has_body()) visit.client.response.close_after();
  auto message = reply::own_message(visit.client, 200, "application/json", std::move(json));
  for (const auto& cookie : cookies) message.insert(beast::http::field::set_cookie, cookie);
  return send_page(visit.client, std::move(message));
}

std::string_view ticket_in(const policy::Request& request) {
  constexpr std::string_view kScheme = "Bearer ";
  const auto value = request.head.fields.value(http::field::authorization);
  if (value.size() < kScheme.size()) return {};
  return http::same_word(value.substr(0, kScheme.size()), kScheme) ? value.substr(kScheme.size())
                                                                   : std::string_view();
}

}  // namespace

std::vector<std::string_view> badges_shown(const policy::Request& request) {
  std::vector<std::string_view> badges;
  const auto begin = name_of_cookie(request.target) + '=';
  for (const auto& line : request.head.fields) {
    if (line.id != http::field::cookie) continue;
    // A browser may show an older badge, too, which counts no more.
    for (auto rest = line.value; !rest.empty() && badges.size() < kMostShownBadges;) {
      const auto cookie = http::next_cookie(rest);
      if (cookie.starts_with(begin)) badges.push_back(cookie.substr(begin.size()));
    }
  }
  return badges;
}

bool is_signed_in(const PagesAccess& pages, const client::Client& client,
                  const policy::Request& request) {
  if (!request.terms().may_show_badge || !request.head.fields.has(http::field::cookie))
    return false;
  const auto badges = badges_shown(request);
  const auto now = pages.clock().steady();
  return std::any_of(badges.begin(), badges.end(), [&](std::string_view badge) {
    return pages.visitors.badges.counts(badge, client.address, now);
  });
}

std::vector<std::string> badge_cookies(const http::Target& target, std::string_view badge) {
  // A browser removes a cookie whose Max-Age is 0 (RFC 6265 5.2.2).
  const std::chrono::seconds lasts =
      badge.empty() ? std::chrono::seconds(0) : std::chrono::seconds(Badges::kBadgeLasts);
  std::vector<std::string> cookies;
  for (const auto path : kBadgePaths) {
    // Scripts cannot read it (HttpOnly), and pages of other sites cannot have it sent (SameSite).
    cookies.push_back(fmt::format("{}={}; Path={}; Max-Age={}; HttpOnly; SameSite=Strict{}",
                                  name_of_cookie(target), badge, path, lasts.count(),
                                  target.https() ? "; Secure" : ""));
  }
  return cookies;
}

std::string reachable_at(const std::vector<net::tcp::endpoint>& listening,
                         std::string_view own_name, const std::optional<IpAddress>& machine) {
  if (listening.empty()) return {};
  // A socket of loopback alone would be of no use in a link for another machine.
  const auto socket = std::max_element(
      listening.begin(), listening.end(),
      [](const auto& one, const auto& other) { return openness(one) < openness(other); });
  auto host = in_url(socket->address());
  if (socket->address().is_unspecified()) {
    host = !own_name.empty() ? std::string(own_name)
                             : in_url(machine.value_or(asio::ip::address_v4::loopback()));
  }
  return fmt::format("{}:{}", host, socket->port());
}

PageAnswer serve_ticket(const Visit& visit) {
  const auto& names = visit.policy().settings.access.own_names;
  const std::string_view own_name = names.empty() ? std::string_view() : names.front();
  const auto place = reachable_at(visit.pages.instance.listening, own_name,
                                  address_of_machine(visit.client.access.executor()));
  const auto ticket = visit.pages.visitors.badges.issue_ticket(visit.pages.clock().steady());
  // The ticket follows a #, so no browser sends it to a server, and no log has it (RFC 3986 3.5).
  auto json =
      fmt::format(R"({{"link":"http://{}{}#{}","link_seconds":{},"session_seconds":{}}})"
                  "\n",
                  place, kSignInPage, ticket, std::chrono::seconds(Badges::kTicketLasts).count(),
                  std::chrono::seconds(Badges::kBadgeLasts).count());
  return send_signed(visit, std::move(json));
}

PageAnswer serve_revocation(const Visit& visit) {
  const auto revoked = visit.pages.visitors.badges.revoke(visit.pages.clock().steady());
  return send_signed(visit, fmt::format("{{\"revoked\":{}}}\n", revoked));
}

PageAnswer serve_sign_in(const Visit& visit) {
  if (!visit.request.terms().may_show_badge) {
    return refused(reply::Refusal::forbidden(
        "a site that `reverse` names is at this address, too, and its pages would share the "
        "sign-in: open the dashboard under an address that `reverse` does not name"));
  }
  const auto badge = visit.pages.visitors.badges.redeem(
      ticket_in(visit.request), visit.client.address, visit.pages.clock().steady());
  if (!badge) {
    return refused(reply::Refusal::forbidden(
        "this link has signed a browser in already, or is too old: `hearsay dashboard` prints a "
        "new one"));
  }
  return send_signed(visit, "{\"signed_in\":true}\n", badge_cookies(visit.request.target, *badge));
}

PageAnswer serve_sign_out(const Visit& visit) {
  // All that the browser shows, or an older badge would count on.
  for (const auto badge : badges_shown(visit.request)) visit.pages.visitors.badges.remove(badge);
  return send_signed(visit, "{\"signed_in\":false}\n", badge_cookies(visit.request.target, {}));
}

}  // namespace proxy::pages
