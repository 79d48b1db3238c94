#include "proxy/pages/own_pages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "peers/native_target.hpp"
#include "proxy/client/note_arrival.hpp"
#include "proxy/pages/cache_pages.hpp"
#include "proxy/pages/dashboard.hpp"
#include "proxy/pages/explain_page.hpp"
#include "proxy/pages/monitoring.hpp"
#include "proxy/pages/neighbour_pages.hpp"
#include "proxy/pages/pac.hpp"
#include "proxy/pages/purge.hpp"
#include "proxy/pages/readers.hpp"
#include "proxy/pages/reload_page.hpp"
#include "proxy/pages/sign_in_pages.hpp"
#include "proxy/reply/error_page.hpp"
#include "proxy/reply/own_message.hpp"

namespace proxy {

using net::Task;

namespace {

constexpr std::string_view kReadMethods = "GET, HEAD, OPTIONS";

Task<void> serve_index(const PagesAccess& pages, Client& client, const Request& request,
                       RequestBody& body);

Task<void> serve_nothing(const PagesAccess&, Client& client, const Request& request, RequestBody&) {
  Refusal refusal{404, "no such page here; / lists what there is", Tag::own_page, {}};
  co_await refuse(client, request, std::move(refusal));
}

constexpr OwnPage kPages[] = {
    {.path = "/", .mapped = WhereMapped::theirs, .answer = serve_index},
    {.path = "/digest",
     .answer = serve_digest_json,
     .about = "what is held and what neighbours claim, as JSON"},
    {.path = "/metrics", .answer = serve_metrics, .about = "counters, for Prometheus"},
    {.path = "/health",
     .answer = serve_health,
     .about = "whether this proxy is up, and what does not work; ?strict=1"},
    {.path = kDashboard,
     .answer = serve_dashboard,
     .about = "all of this to look at, live, with a browser"},
    // Leads everybody to the path above, for which a browser that is signed in has its cookie.
    {.path = "/hearsay", .readers = Audience::anybody, .answer = serve_dashboard},
    {.path = "/hearsay/about", .answer = serve_about},
    {.path = "/hearsay/history", .answer = serve_history},
    {.path = "/hearsay/events", .answer = serve_events},
    {.path = "/hearsay/requests", .readers = Audience::admins, .answer = serve_recent_requests},
    {.path = "/hearsay/busiest", .readers = Audience::admins, .answer = serve_busiest},
    {.path = kSignInPage, .readers = Audience::anybody, .answer = serve_dashboard},
    {.path = "/hearsay/sign-in.js", .readers = Audience::anybody, .answer = serve_dashboard},
    {.path = "/hearsay/icon.svg", .readers = Audience::anybody, .answer = serve_dashboard},
    {.path = "/hearsay/style.css", .readers = Audience::anybody, .answer = serve_dashboard},
    {.path = "/hearsay/session",
     .effect = Effect::change,
     .readers = Audience::anybody,
     .answer = serve_sign_in},
    {.path = "/hearsay/sign-out",
     .effect = Effect::change,
     .readers = Audience::anybody,
     .answer = serve_sign_out},
    {.path = "/hearsay/origins",
     .readers = Audience::admins,
     .answer = serve_origins,
     .about = "origins of the last hour, and what requests wait for, as JSON"},
    {.path = "/proxy.pac",
     .readers = Audience::clients,
     .answer = serve_pac,
     .about = "the script that tells browsers when to use this proxy; also /wpad.dat"},
    {.path = "/wpad.dat", .readers = Audience::clients, .answer = serve_pac},
    {.path = peers::kNativePath,
     .readers = Audience::neighbours,
     .mapped = WhereMapped::ours_at_any_name,
     .answer = serve_native_digest},
    {.path = "/squid-internal-periodic/store_digest",
     .readers = Audience::neighbours,
     .via = Via::squids_own,
     .mapped = WhereMapped::ours_at_any_name,
     .answer = serve_store_digest},
    {.path = "/admin/purge",
     .effect = Effect::change,
     .readers = Audience::admins,
     .answer = serve_purge_order,
     .about = "drops what is stored, by URL, prefix or host"},
    {.path = "/admin/tickets",
     .effect = Effect::change,
     .readers = Audience::operators,
     .answer = serve_ticket},
    {.path = "/admin/tickets/revoke",
     .effect = Effect::change,
     .readers = Audience::operators,
     .answer = serve_revocation},
    {.path = "/admin/explain",
     .readers = Audience::admins,
     .answer = serve_explanation,
     .about = "what would be done with a URL now, and why: ?url=URL"},
    {.path = "/admin/reload",
     .effect = Effect::change,
     .readers = Audience::admins,
     .answer = serve_reload,
     .about = "reads the settings again"},
    {.path = "/admin/cache/list",
     .readers = Audience::admins,
     .answer = serve_cache_list,
     .about = "what is stored, a line of JSON each; ?prefix=URL"},
    {.path = "/admin/cache/sums",
     .readers = Audience::admins,
     .answer = serve_cache_sums,
     .about = "what is stored, by host, and the largest of it; ?contains=TEXT"},
    {.path = "/admin/cache/show",
     .readers = Audience::admins,
     .answer = serve_cache_show,
     .about = "all that is stored of a URL: ?url=URL"},
    {.path = "/admin/cache/verify",
     .effect = Effect::change,
     .readers = Audience::admins,
     .answer = serve_cache_verify,
     .about = "checks all that is on disk"},
    {.path = "/admin/cache/drop",
     .effect = Effect::change,
     .readers = Audience::admins,
     .answer = serve_purge_order,
     .about = "as /admin/purge"},
};
// The page of every other path, and of the target "*" of OPTIONS.
constexpr OwnPage kNoPage{.mapped = WhereMapped::theirs, .answer = serve_nothing};

Task<void> serve_index(const PagesAccess& pages, Client& client, const Request& request,
                       RequestBody& body) {
  if (is_browser(request)) co_return co_await serve_dashboard(pages, client, request, body);
  std::string text = "Hearsay, a caching proxy whose neighbours know what it holds.\n\n";
  for (const auto& page : kPages) {
    if (page.about.empty()) continue;
    const std::string_view method = page.effect == Effect::change ? "POST: " : "";
    fmt::format_to(std::back_inserter(text), "{:<21}{}{}\n", page.path, method, page.about);
  }
  auto message = own_message(client, 200, "text/plain; charset=utf-8", std::move(text));
  message.set(beast::http::field::vary, "Accept");
  co_await send_message(client, message);
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
bool stays_ours(const Client& client, const Request& request, WhereMapped mapped) {
  if (mapped == WhereMapped::theirs) return false;
  if (mapped == WhereMapped::ours_at_any_name && request.mapping()->any_host) return true;
  return request.target.host().empty() || names_own_socket(client, request.target);
}

Refusal wrong_method(std::string reason, std::string_view allowed) {
  return {405, std::move(reason), Tag::denied, {}, allowed};
}

Task<void> tell_methods(Client& client) {
  auto message = own_message(client, 200, "", "");
  message.set(beast::http::field::allow, kReadMethods);
  co_await send_message(client, message);
}

std::optional<Refusal> check_method(const Request& request, Effect effect) {
  if (effect == Effect::change) {
    if (request.head.method == "POST") return std::nullopt;
    return wrong_method("only POST", "POST");
  }
  if (request.head.method == "OPTIONS") return std::nullopt;
  if (request.facts.method != cache::RequestFacts::Method::other) return std::nullopt;
  return wrong_method("only GET, HEAD and OPTIONS", kReadMethods);
}

}  // namespace

const OwnPage* own_page(const Client& client, const Request& request) {
  if (request.arrival() == Arrival::forward) return nullptr;
  const auto& page = page_at(request.target);
  if (!request.mapping() || stays_ours(client, request, page.mapped)) return &page;
  return nullptr;
}

namespace {

Task<void> answer_own(const PagesAccess& pages, Client& client, const Request& request,
                      const OwnPage& page, RequestBody& body) {
  auto refusal = check_reader(pages, client, request, page);
  if (!refusal) refusal = check_method(request, page.effect);
  if (refusal) co_return co_await refuse(client, request, std::move(*refusal));
  if (page.effect == Effect::read) {
    if (request.framing.has_body()) client.response.close_after();
    if (request.head.method == "OPTIONS") co_return co_await tell_methods(client);
  }
  co_await page.answer(pages, client, request, body);
}

}  // namespace

Task<void> serve_own(const PagesAccess& pages, Client& client, const Request& request,
                     const OwnPage& page, RequestBody& body) {
  client.record.tag = Tag::own_page;
  co_await answer_own(pages, client, request, page, body);
  client.record.tag = Tag::own_page;  // a page that refuses is no request that was denied or failed
}

}  // namespace proxy
