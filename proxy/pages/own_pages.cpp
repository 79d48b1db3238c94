#include "proxy/pages/own_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "peers/native_target.hpp"
#include "proxy/client/arrival.hpp"
#include "proxy/http/forwarded.hpp"
#include "proxy/http/text.hpp"
#include "proxy/pages/pac.hpp"
#include "proxy/pages/sign_in.hpp"
#include "proxy/reply/refuse.hpp"

namespace proxy::pages {

namespace beast = boost::beast;

using net::Task;

namespace {

constexpr std::string_view kReadMethods = "GET, HEAD, OPTIONS";

PageAnswer serve_index(const Visit& visit);

PageAnswer serve_nothing(const Visit&) {
  return refused({404, "no such page here; / lists what there is", observe::Tag::own_page, {}});
}

// Whether a registry is here. Never with a challenge: what needs a credential is asked elsewhere.
PageAnswer serve_registry(const Visit& visit) {
  if (!visit.policy().rules.registries().any()) return serve_nothing(visit);
  auto message = reply::own_message(visit.client, 200, "application/json", "{}");
  message.set("Docker-Distribution-Api-Version", "registry/2.0");
  return send_page(visit.client, std::move(message));
}

constexpr OwnPage kPages[] = {
    {"/", serve_index, Audience::monitors, Effect::read, "", WhereMapped::theirs},
    {"/digest", serve_digest_json, Audience::monitors, Effect::read,
     "what is held and what neighbours claim, as JSON"},
    {"/metrics", serve_metrics, Audience::monitors, Effect::read, "counters, for Prometheus"},
    {"/health", serve_health, Audience::monitors, Effect::read,
     "whether this proxy is up, and what does not work; ?strict=1"},
    {kDashboard, serve_dashboard, Audience::monitors, Effect::read,
     "all of this to look at, live, with a browser"},
    // Leads everybody to the path above, for which a browser that is signed in has its cookie.
    {"/hearsay", serve_dashboard, Audience::anybody},
    {"/hearsay/about", serve_about},
    {"/hearsay/history", serve_history},
    {"/hearsay/events", serve_events},
    {"/hearsay/requests", serve_recent_requests, Audience::admins},
    {"/hearsay/busiest", serve_busiest, Audience::admins},
    {kSignInPage, serve_dashboard, Audience::anybody},
    {"/hearsay/sign-in.js", serve_dashboard, Audience::anybody},
    {"/hearsay/setup.js", serve_dashboard, Audience::anybody},
    {"/hearsay/dom.js", serve_dashboard, Audience::anybody},
    {"/hearsay/icon.svg", serve_dashboard, Audience::anybody},
    {"/hearsay/style.css", serve_dashboard, Audience::anybody},
    {"/hearsay/session", serve_sign_in, Audience::anybody, Effect::change},
    {"/hearsay/sign-out", serve_sign_out, Audience::anybody, Effect::change},
    {"/hearsay/origins", serve_origins, Audience::admins, Effect::read,
     "origins of the last hour, and what requests wait for, as JSON"},
    {"/proxy.pac", serve_pac, Audience::clients, Effect::read,
     "the script that tells browsers when to use this proxy; also /wpad.dat"},
    {"/wpad.dat", serve_pac, Audience::clients},
    {"/setup", serve_setup, Audience::clients, Effect::read,
     "how each kind of client is told to use this proxy; also /setup.json"},
    {"/setup.json", serve_setup, Audience::clients},
    {"/v2/", serve_registry, Audience::clients},
    {"/v2", serve_registry, Audience::clients},
    {peers::kNativePath, serve_native_digest, Audience::neighbours, Effect::read, "",
     WhereMapped::ours_at_any_name},
    {"/squid-internal-periodic/store_digest", serve_store_digest, Audience::neighbours,
     Effect::read, "", WhereMapped::ours_at_any_name, Via::squids_own},
    {"/admin/purge", serve_purge_order, Audience::admins, Effect::change,
     "drops what is stored, by URL, prefix or host"},
    // A ticket makes an administrator of whoever shows it, so only the control socket gives any.
    {"/admin/tickets", serve_ticket, Audience::operators, Effect::change},
    {"/admin/tickets/revoke", serve_revocation, Audience::operators, Effect::change},
    {"/admin/explain", serve_explanation, Audience::admins, Effect::read,
     "what would be done with a URL now, and why: ?url=URL"},
    {"/admin/reload", serve_reload, Audience::admins, Effect::change, "reads the settings again"},
    {"/admin/cache/list", serve_cache_list, Audience::admins, Effect::read,
     "what is stored, a line of JSON each; ?prefix=URL"},
    {"/admin/cache/sums", serve_cache_sums, Audience::admins, Effect::read,
     "what is stored, by host, and the largest of it; ?contains=TEXT"},
    {"/admin/cache/show", serve_cache_show, Audience::admins, Effect::read,
     "all that is stored of a URL: ?url=URL"},
    {"/admin/cache/verify", serve_cache_verify, Audience::admins, Effect::change,
     "checks all that is on disk"},
    {"/admin/cache/drop", serve_purge_order, Audience::admins, Effect::change, "as /admin/purge"},
};
// The page of every other path, and of the target "*" of OPTIONS.
constexpr OwnPage kNoPage{.answer = serve_nothing, .mapped = WhereMapped::theirs};

PageAnswer serve_index(const Visit& visit) {
  if (reply::is_browser(visit.request)) return serve_dashboard(visit);
  std::string text = "Hearsay, a caching proxy whose neighbours know what it holds.\n\n";
  for (const auto& page : kPages) {
    if (page.about.empty()) continue;
    const std::string_view method = page.effect == Effect::change ? "POST: " : "";
    fmt::format_to(std::back_inserter(text), "{:<21}{}{}\n", page.path, method, page.about);
  }
  auto message =
      reply::own_message(visit.client, 200, "text/plain; charset=utf-8", std::move(text));
  // A browser gets the dashboard at the same URL.
  message.set(beast::http::field::vary, "Accept");
  return send_page(visit.client, std::move(message));
}

const OwnPage* row_of(std::string_view path) {
  const auto* found = std::find_if(std::begin(kPages), std::end(kPages),
                                   [path](const OwnPage& page) { return page.path == path; });
  return found == std::end(kPages) ? nullptr : found;
}

// The files of the dashboard have no rows of their own.
const OwnPage& page_at(const http::Target& target) {
  if (target.form() == http::Target::Form::asterisk) return kNoPage;
  const auto path = target.path().substr(0, target.path().find('?'));
  if (const auto* page = row_of(path)) return *page;
  return path.starts_with(kDashboard) ? *row_of(kDashboard) : kNoPage;
}

// Whether the page is ours although a mapping covers the host.
bool stays_ours(const client::Client& client, const policy::Request& request, WhereMapped mapped) {
  if (mapped == WhereMapped::theirs) return false;
  const bool at_any_name = request.terms().own_pages == policy::OwnPages::at_any_name;
  if (mapped == WhereMapped::ours_at_any_name && at_any_name) return true;
  return request.target.host().empty() || client::names_own_socket(client, request.target);
}

std::optional<reply::Refusal> check_audience(const policy::Caller& caller, Audience readers) {
  const bool is_operator = caller.admin == policy::Caller::Proof::control_socket;
  if (is_operator || readers == Audience::anybody) return std::nullopt;
  if (readers == Audience::operators) {
    return reply::Refusal::forbidden("only through the control socket (setting control)");
  }
  if (caller.is_admin()) return std::nullopt;
  switch (readers) {
    case Audience::neighbours:
      if (caller.is_neighbour()) return std::nullopt;
      return reply::Refusal::forbidden(
          "this digest is for neighbours (settings peers, access.peers, access.admin)");
    case Audience::monitors:
      if (caller.is_monitor) return std::nullopt;
      return reply::Refusal::forbidden("not for your address (setting access.monitor)");
    case Audience::clients:
      if (caller.may_be_client) return std::nullopt;
      return reply::Refusal::forbidden("not for your address (setting access.clients)");
    default:
      return reply::Refusal::forbidden(
          "not for your address (setting access.admin), nor is this browser signed in (`hearsay "
          "dashboard`)");
  }
}

// Whether no page of another origin can have sent the request.
bool is_of_our_page(const policy::Request& request) {
  const auto& fields = request.head.fields;
  const auto* const site = fields.find("Sec-Fetch-Site");
  if (site && site->value != "same-origin" && site->value != "none") return false;
  if (!fields.has(http::field::origin)) return true;
  // A server for TLS may stand in front of this proxy, so the scheme does not count. The origin of
  // a page in a sandbox is "null".
  const auto origin = fields.value(http::field::origin);
  const auto scheme_end = origin.find("://");
  return fields.count(http::field::origin) == 1 && scheme_end != origin.npos &&
         http::same_word(origin.substr(scheme_end + 3), request.target.authority());
}

reply::Refusal not_from_there() {
  return reply::Refusal::forbidden("not from a page of another origin");
}

// Before a script of another site may send such a field, a browser asks by OPTIONS whether it may
// (CORS), and no page of ours allows it. A mirrored page has our own site, if it is not in a
// sandbox.
std::optional<reply::Refusal> check_meant(const policy::Request& request) {
  if (!is_of_our_page(request)) return not_from_there();
  const auto* word = request.head.fields.find("X-Hearsay");
  if (word && word->value == "1") return std::nullopt;
  return reply::Refusal::forbidden(
      "this needs the field X-Hearsay: 1, for no web page can send it");
}

// Why the client may not read the page; nothing if it may.
std::optional<reply::Refusal> check_reader(const Visit& visit, const OwnPage& page) {
  const auto& request = visit.request;
  // Behind another proxy, the address is that proxy's and says nothing of the reader.
  const auto relay = policy::relay_of(request.head.fields);
  const bool is_squids_own = relay == policy::Relay::squid && page.via == Via::squids_own;
  if (relay != policy::Relay::none && !is_squids_own) {
    return reply::Refusal::forbidden("not through another proxy");
  }
  // Browsers look for the script at http://wpad.DOMAIN/, a name that no setting has to list.
  const bool wpad = page.readers == Audience::clients && is_wpad(request.target.host());
  // Clients of registries name this proxy as their settings do, and learn nothing here.
  const bool names_us =
      client::names_us(visit.client, request.target) || wpad || page.answer == serve_registry;
  if (!names_us) {
    return reply::Refusal::forbidden(
        "the Host field does not name me (settings name, access.own_names)");
  }
  if (auto refusal = check_audience(visit.caller, page.readers)) return refusal;
  if (page.effect == Effect::change) return check_meant(request);
  const bool is_foreign = page.readers == Audience::admins && !is_of_our_page(request);
  return is_foreign ? std::optional(not_from_there()) : std::nullopt;
}

std::optional<reply::Refusal> check_method(const policy::Request& request, Effect effect) {
  const bool is_meant = effect == Effect::change
                            ? request.head.method == "POST"
                            : request.head.method == "OPTIONS" ||
                                  request.facts.method != cache::RequestFacts::Method::other;
  if (is_meant) return std::nullopt;
  // A 405 has to name the methods that are allowed (RFC 9110 15.5.6).
  if (effect == Effect::change)
    return reply::Refusal{405, "only POST", observe::Tag::denied, {}, "POST"};
  return reply::Refusal{405, "only GET, HEAD and OPTIONS", observe::Tag::denied, {}, kReadMethods};
}

PageAnswer answer_own(const Visit& visit, const OwnPage& page) {
  auto& client = visit.client;
  const auto& request = visit.request;
  // First who asks: strangers do not learn by the method which pages there are.
  auto refusal = check_reader(visit, page);
  if (!refusal) refusal = check_method(request, page.effect);
  if (refusal) return refused(std::move(*refusal));
  if (page.effect == Effect::read) {
    // Nobody reads the body, so no further request could be found behind it.
    if (request.framing.has_body()) client.response.close_after();
    if (request.head.method == "OPTIONS") {
      auto message = reply::own_message(client, 200, "", "");
      message.set(beast::http::field::allow, kReadMethods);
      return send_page(client, std::move(message));
    }
  }
  return page.answer(visit);
}

Task<std::string> make(const std::function<std::string()>& body) {
  co_return body();
}

}  // namespace

const OwnPage* own_page(const client::Client& client, const policy::Request& request) {
  const auto mine = request.terms().own_pages;
  if (mine == policy::OwnPages::none) return nullptr;
  const auto& page = page_at(request.target);
  if (mine == policy::OwnPages::all || stays_ours(client, request, page.mapped)) return &page;
  return nullptr;
}

Task<void> serve_own(const PagesAccess& pages, client::Client& client,
                     const policy::Request& request, const OwnPage& page,
                     client::RequestBody& body) {
  // Before the answer, since error pages are made for our own pages in another way.
  client.record.tag = observe::Tag::own_page;
  const Visit visit{pages, client, request, body,
                    with_badge(pages, client, request, request.caller)};
  auto refusal = co_await answer_own(visit, page);
  if (refusal) co_await reply::refuse(client, request, std::move(*refusal));
  client.record.tag =
      observe::Tag::own_page;  // a page that refuses is no request that was denied or failed
}

PageAnswer refused(reply::Refusal refusal) {
  co_return refusal;
}

PageAnswer send_page(client::Client& client, reply::OwnMessage message) {
  co_await reply::send_message(client, message);
  co_return std::nullopt;
}

PageAnswer send_page(const Visit& visit, reply::OwnMessage message,
                     std::function<std::string()> make_body) {
  // A variable: g++ 12.2 destroys a temporary of an awaited call twice.
  auto making = make(make_body);
  auto text = co_await net::run_on(visit.pages.tiers.aside, std::move(making));
  message.body() = std::move(text);
  co_await reply::send_message(visit.client, message);
  co_return std::nullopt;
}

policy::Caller with_badge(const PagesAccess& pages, const client::Client& client,
                          const policy::Request& request, policy::Caller caller) {
  if (!caller.is_admin() && is_signed_in(pages, client, request))
    caller.admin = policy::Caller::Proof::badge;
  return caller;
}

std::optional<reply::Refusal> check_admin(const PagesAccess& pages, const client::Client& client,
                                          const policy::Request& request) {
  if (policy::relay_of(request.head.fields) != policy::Relay::none)
    return reply::Refusal::forbidden("not through another proxy");
  const auto caller = with_badge(pages, client, request, request.caller);
  if (auto refusal = check_audience(caller, Audience::admins)) return refusal;
  return check_meant(request);
}

}  // namespace proxy::pages
