#include "proxy/pages/readers.hpp"

#include <algorithm>

#include "proxy/client/note_arrival.hpp"
#include "proxy/http/forwarded.hpp"
#include "proxy/http/text.hpp"
#include "proxy/pages/badge_cookie.hpp"
#include "proxy/pages/pac.hpp"

namespace proxy {
namespace {

bool came_through_a_proxy(const Request& request) {
  const auto& fields = request.head.fields;
  return fields.has(http::field::via) ||
         std::any_of(fields.begin(), fields.end(), http::is_forwarded_field);
}

bool names_no_client(std::string_view x_forwarded_for) {
  return x_forwarded_for.empty() || x_forwarded_for == "::" || x_forwarded_for == "unknown";
}

// Fields that clients send, and a Squid in its own requests does not.
constexpr http::field kOfClients[] = {http::field::user_agent,      http::field::accept_encoding,
                                      http::field::accept_language, http::field::cookie,
                                      http::field::origin,          http::field::referer};

// Whether the request is a Squid's own for our digest. It has the Via of that Squid alone, and its
// X-Forwarded-For names no client: "::", or what the setting forwarded_for of Squid makes of it. In
// a request that a Squid forwards, these fields tell of the client, or the client's fields remain.
bool is_squids_own(const http::Fields& fields) {
  using http::field;
  const auto via = fields.value(field::via);
  const bool of_one_squid =
      fields.count(field::via) == 1 && via.find(',') == via.npos && via.find("(squid") != via.npos;
  const bool of_no_client = std::none_of(fields.begin(), fields.end(), [](const auto& line) {
    const bool listed =
        std::find(std::begin(kOfClients), std::end(kOfClients), line.id) != std::end(kOfClients);
    const bool is_list = http::same_word(line.name, http::kXForwardedFor);
    return listed || (http::is_forwarded_field(line) && !(is_list && names_no_client(line.value)));
  });
  return of_one_squid && of_no_client &&
         http::has_member(fields, field::accept, "application/cache-digest");
}

// Whether the host is an address, a name of ours or missing. Ignores the port. A page of another
// site can make its own name point at us (DNS rebinding), but not an address.
bool names_us(const Client& client, const http::Target& target) {
  const auto host = target.host();
  return host.empty() || config::parse_address(host) || is_our_name(client, host);
}

std::optional<Refusal> check_audience(const PagesAccess& pages, const Client& client,
                                      const Request& request, Audience readers) {
  if (client.door == Door::control || readers == Audience::anybody) return std::nullopt;
  if (readers == Audience::operators) {
    return Refusal::forbidden("only through the control socket (setting control)");
  }
  const auto& policy = request.policy();
  if (is_admin(pages, client, request, policy)) return std::nullopt;
  const auto& access = policy.settings.access;
  switch (readers) {
    case Audience::neighbours:
      if (policy.is_neighbour(client.address)) return std::nullopt;
      return Refusal::forbidden(
          "this digest is for neighbours (settings peers, access.peers, access.admin)");
    case Audience::monitors:
      if (config::contains(access.monitor, client.address)) return std::nullopt;
      return Refusal::forbidden("not for your address (setting access.monitor)");
    case Audience::clients:
      if (may_be_client(access, client.address)) return std::nullopt;
      return Refusal::forbidden("not for your address (setting access.clients)");
    default:
      return Refusal::forbidden(
          "not for your address (setting access.admin), nor is this browser signed in (`hearsay "
          "dashboard`)");
  }
}

std::optional<Refusal> check_meant(const Request& request) {
  const auto* word = request.head.fields.find("X-Hearsay");
  if (word && word->value == "1") return std::nullopt;
  return Refusal::forbidden("this needs the field X-Hearsay: 1, for no web page can send it");
}

}  // namespace

std::optional<Refusal> check_reader(const PagesAccess& pages, const Client& client,
                                    const Request& request, const OwnPage& page) {
  const bool squids_own = page.via == Via::squids_own && is_squids_own(request.head.fields);
  if (came_through_a_proxy(request) && !squids_own) {
    return Refusal::forbidden("not through another proxy");
  }
  const bool wpad = page.readers == Audience::clients && is_wpad(request.target.host());
  if (!names_us(client, request.target) && !wpad) {
    return Refusal::forbidden("the Host field does not name me (settings name, access.own_names)");
  }
  if (auto refusal = check_audience(pages, client, request, page.readers)) return refusal;
  return page.effect == Effect::change ? check_meant(request) : std::nullopt;
}

bool is_admin(const PagesAccess& pages, const Client& client, const Request& request,
              const Policy& policy) {
  return client.door == Door::control ||
         config::contains(policy.settings.access.admin, client.address) ||
         is_signed_in(pages, client, request);
}

std::optional<Refusal> check_admin(const PagesAccess& pages, const Client& client,
                                   const Request& request) {
  if (came_through_a_proxy(request)) return Refusal::forbidden("not through another proxy");
  if (auto refusal = check_audience(pages, client, request, Audience::admins)) return refusal;
  return check_meant(request);
}

}  // namespace proxy
