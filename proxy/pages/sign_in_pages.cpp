#include "proxy/pages/sign_in_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/udp.hpp>

#include "proxy/http/text.hpp"
#include "proxy/pages/badge_cookie.hpp"
#include "proxy/pages/dashboard.hpp"
#include "proxy/reply/own_message.hpp"
#include "proxy/reply/refuse.hpp"

namespace proxy {

using beast::http::field;
using net::Task;
namespace asio = net::asio;

namespace {

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
  return fmt::format("[{}]", asio::ip::address_v6(address.to_v6().to_bytes()).to_string());
}

// The connection is not used any more if the request has a body, which nobody reads.
Task<void> send_page(Client& client, const Request& request, std::string json,
                     const std::vector<std::string>& cookies = {}) {
  if (request.framing.has_body()) client.response.close_after();
  auto message = own_message(client, 200, "application/json", std::move(json));
  for (const auto& cookie : cookies) message.insert(field::set_cookie, cookie);
  co_await send_message(client, message);
}

std::string_view ticket_in(const Request& request) {
  constexpr std::string_view kScheme = "Bearer ";
  const auto value = request.head.fields.value(field::authorization);
  if (value.size() < kScheme.size()) return {};
  return http::same_word(value.substr(0, kScheme.size()), kScheme) ? value.substr(kScheme.size())
                                                                   : std::string_view();
}

}  // namespace

std::string reachable_at(const std::vector<net::tcp::endpoint>& listening,
                         std::string_view own_name, const std::optional<IpAddress>& machine) {
  if (listening.empty()) return {};
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

Task<void> serve_ticket(const PagesAccess& pages, Client& client, const Request& request,
                        RequestBody&) {
  const auto& names = request.policy().settings.access.own_names;
  const std::string_view own_name = names.empty() ? std::string_view() : names.front();
  const auto place = reachable_at(pages.instance.listening, own_name,
                                  address_of_machine(client.access.executor()));
  const auto ticket = pages.visitors.badges.issue_ticket(pages.clock().steady());
  auto json =
      fmt::format(R"({{"link":"http://{}{}#{}","link_seconds":{},"session_seconds":{}}})"
                  "\n",
                  place, kSignInPage, ticket, std::chrono::seconds(Badges::kTicketLasts).count(),
                  std::chrono::seconds(Badges::kBadgeLasts).count());
  co_await send_page(client, request, std::move(json));
}

Task<void> serve_revocation(const PagesAccess& pages, Client& client, const Request& request,
                            RequestBody&) {
  const auto revoked = pages.visitors.badges.revoke(pages.clock().steady());
  auto json = fmt::format("{{\"revoked\":{}}}\n", revoked);
  co_await send_page(client, request, std::move(json));
}

Task<void> serve_sign_in(const PagesAccess& pages, Client& client, const Request& request,
                         RequestBody&) {
  if (request.mapping()) {
    auto refusal = Refusal::forbidden(
        "a site that `reverse` names is at this address, too, and its pages would share the "
        "sign-in: open the dashboard under an address that `reverse` does not name");
    co_return co_await refuse(client, request, std::move(refusal));
  }
  auto& badges = pages.visitors.badges;
  const auto badge = badges.redeem(ticket_in(request), client.address, pages.clock().steady());
  if (!badge) {
    auto refusal = Refusal::forbidden(
        "this link has signed a browser in already, or is too old: `hearsay dashboard` prints a "
        "new "
        "one");
    co_return co_await refuse(client, request, std::move(refusal));
  }
  const auto cookies = badge_cookies(request.target, *badge);
  std::string json = "{\"signed_in\":true}\n";
  co_await send_page(client, request, std::move(json), cookies);
}

Task<void> serve_sign_out(const PagesAccess& pages, Client& client, const Request& request,
                          RequestBody&) {
  for (const auto badge : badges_shown(request)) pages.visitors.badges.give_back(badge);
  const auto cookies = badge_cookies(request.target, {});
  std::string json = "{\"signed_in\":false}\n";
  co_await send_page(client, request, std::move(json), cookies);
}

}  // namespace proxy
