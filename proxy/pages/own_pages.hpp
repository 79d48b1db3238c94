// The pages of the proxy itself, for monitors, neighbours and admins: the table of them, who may
// read them, and their handlers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/client/client.hpp"
#include "proxy/pages/pages_access.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/reply/own_message.hpp"
#include "proxy/reply/refuse.hpp"

namespace proxy::pages {

// The clients that may read a page. Operators may read every page. Admins may read every page but
// those for operators. An admin is a client in access.admin, or a browser that is signed in
// (pages/badges.hpp). Only admins may see the URLs and the addresses of clients.
enum class Audience : std::uint8_t {
  neighbours,  // settings peers and access.peers
  monitors,    // setting access.monitor: figures, neighbours and health
  clients,     // whoever may use the proxy
  admins,
  operators,  // who may open the control socket
  anybody,    // whoever can connect
};

// What a page does, which decides the method and the fields that a request needs.
enum class Effect : std::uint8_t {
  read,    // GET, HEAD or OPTIONS
  change,  // changes state or is expensive: POST with X-Hearsay: 1
};

// Whether a request may name a proxy in Via. A proxy may be allowed to read a page that its user
// may not, so no page answers a request that passed a proxy, as far as its fields tell.
enum class Via : std::uint8_t {
  none,
  squids_own,  // a Squid names itself in its own requests for digests
};

// The owner of the path if a reverse mapping covers the request's host.
enum class WhereMapped : std::uint8_t {
  theirs,              // the origin's
  ours_at_our_socket,  // ours if the Host is an address or name of ours with our port
  ours_at_any_name,    // ours also if only the mapping "*" covers the host: for neighbours
};

// One request for a page, by a client that may read the page. Outlives the answer.
struct Visit {
  const PagesAccess& pages;
  client::Client& client;
  const policy::Request& request;
  client::RequestBody& body;
  const policy::Caller caller;  // when the request came

  [[nodiscard]] const policy::Policy& policy() const { return request.policy(); }
  [[nodiscard]] std::string_view path() const { return request.target.path(); }  // with the query
};

// A handler answers the visit, or returns the refusal with which the caller answers.
using PageAnswer = net::Task<std::optional<reply::Refusal>>;

struct OwnPage {
  std::string_view path = {};  // without the query
  PageAnswer (*answer)(const Visit& visit) = nullptr;
  Audience readers = Audience::monitors;
  Effect effect = Effect::read;
  std::string_view about = {};  // for the index, which omits pages without this text
  WhereMapped mapped = WhereMapped::ours_at_our_socket;
  Via via = Via::none;
};

// Returns the page that the request is for: a row of the table, or a page that answers 404. Null:
// the request is for another server. If a reverse mapping covers the host, OwnPage::mapped decides.
const OwnPage* own_page(const client::Client& client, const policy::Request& request);

// Answers with the page, or refuses a request that its row does not allow.
net::Task<void> serve_own(const PagesAccess& pages, client::Client& client,
                          const policy::Request& request, const OwnPage& page,
                          client::RequestBody& body);

// The same caller, who is an admin also if its browser is signed in.
policy::Caller with_badge(const PagesAccess& pages, const client::Client& client,
                          const policy::Request& request, policy::Caller caller);

// Why the client may not change stored responses; nothing if it may. Only admins may, not through
// another proxy, and with the field `X-Hearsay: 1`, which no page of another site can send.
std::optional<reply::Refusal> check_admin(const PagesAccess& pages, const client::Client& client,
                                          const policy::Request& request);

// The last calls of handlers. `make_body` runs on the thread Cache::aside: for bodies that take
// milliseconds to make.
PageAnswer refused(reply::Refusal refusal);
PageAnswer send_page(client::Client& client, reply::OwnMessage message);
PageAnswer send_page(const Visit& visit, reply::OwnMessage message,
                     std::function<std::string()> make_body);
inline PageAnswer send_json(client::Client& client, std::string json, unsigned status = 200) {
  return send_page(client, reply::own_message(client, status, "application/json", std::move(json)));
}

// The dashboard, a page for a browser (dashboard.cpp). serve_dashboard() answers with the page at /
// and kDashboard, and with its files at the paths below.
inline constexpr std::string_view kDashboard = "/hearsay/";
// A page of the dashboard for a browser that has a ticket behind the `#` of its URL.
inline constexpr std::string_view kSignInPage = "/hearsay/sign-in";
PageAnswer serve_dashboard(const Visit& visit);
// Answers with the members "name", "version" and "started", and two more. "admin": whether the
// client may see requests and what is stored, ask for explanations, and purge. "signed_in": whether
// a badge lets the client do so.
PageAnswer serve_about(const Visit& visit);
PageAnswer serve_history(const Visit& visit);  // ?span=hour, the default, or day
PageAnswer serve_recent_requests(const Visit& visit);
PageAnswer serve_busiest(const Visit& visit);
PageAnswer serve_origins(const Visit& visit);
// news_json() each second, for admins with_requests(), as server-sent events, until the client
// leaves, ceases to be or becomes an admin, or the proxy drains. There is room for
// WaitingClients::kWatchers; others get 503.
PageAnswer serve_events(const Visit& visit);

// Signing browsers in as administrator, and out (sign_in.cpp).
// {"link": the page that signs a browser in, with a ticket, "link_seconds", "session_seconds"}.
PageAnswer serve_ticket(const Visit& visit);
// Ends all tickets and badges. {"revoked": the number of browsers that were signed in}.
PageAnswer serve_revocation(const Visit& visit);
// `Authorization: Bearer TICKET`: gives the browser a badge for the ticket, as cookies.
PageAnswer serve_sign_in(const Visit& visit);
PageAnswer serve_sign_out(const Visit& visit);

// What monitors read: digest_json(), metrics_text(), and health_json() with 200 while requests are
// accepted, 503 while the proxy drains.
PageAnswer serve_digest_json(const Visit& visit);
PageAnswer serve_metrics(const Visit& visit);
PageAnswer serve_health(const Visit& visit);

// The host and port by which the client has reached us, and so will again, as its Host field says.
// Nothing: that names no host.
std::optional<config::HostPort> reached_at(const Visit& visit);
reply::Refusal needs_host();  // for a page that needs it
// The script of pac.hpp, which names this proxy by reached_at().
PageAnswer serve_pac(const Visit& visit);
// The texts of config/client_setups.hpp for reached_at() (setup.cpp). /setup: a page for browsers,
// else plain text. /setup.json: {"proxy": "HOST:PORT", "clients": [{"name", "title", "place",
// "text"}, ...]}.
PageAnswer serve_setup(const Visit& visit);

// Our digest for neighbours, or 304 (neighbour_pages.cpp): in Squid's form, and in our own, which
// is whole, or the changes since the generation that the URL names. A poll with `wait` in its URL
// that would get 304 is held until the digest changes, for that many milliseconds at most
// (peers/native_target.hpp).
PageAnswer serve_store_digest(const Visit& visit);
PageAnswer serve_native_digest(const Visit& visit);

// Pages by which admins give orders (admin_pages.cpp). The pages about the cache send each line of
// inspect/live.hpp as soon as the line is made.
PageAnswer serve_cache_list(const Visit& visit);    // ?prefix=URL
PageAnswer serve_cache_sums(const Visit& visit);    // ?contains=TEXT
PageAnswer serve_cache_show(const Visit& visit);    // ?url=URL
PageAnswer serve_cache_verify(const Visit& visit);  // one at a time; a second request gets 409
// ?url=URL[&method=METHOD][&client=ADDRESS][&user=NAME], as explanation_json(). Without an address,
// explains what the asker itself may.
PageAnswer serve_explanation(const Visit& visit);
// Reads the settings again, as SIGHUP does, and answers once it is done: 200 if they are in force,
// 422 if the file has errors, 503 while the proxy drains. {"applied": true, "file": "PATH",
// "needs_restart": ["threads", ...], "errors": [{"where": "PATH, line 3, column 7, peers[0].url",
// "what": "..."}, ...]}
PageAnswer serve_reload(const Visit& visit);
// Drops the responses of all URLs that the body, a PurgeOrder, names, in both key spaces
// (purge.cpp). The answer is JSON, sent after the responses are dropped.
PageAnswer serve_purge_order(const Visit& visit);

}  // namespace proxy::pages
