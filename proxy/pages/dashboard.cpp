#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/span_body.hpp>

#include "proxy/http/validators.hpp"
#include "proxy/pages/dashboard_files.hpp"
#include "proxy/pages/origins.hpp"
#include "proxy/pages/query.hpp"
#include "proxy/pages/sign_in.hpp"
#include "proxy/pages/texts.hpp"
#include "proxy/version.hpp"

namespace proxy::pages {

namespace beast = boost::beast;

using beast::http::field;
namespace asio = net::asio;

namespace {

std::string_view type_of(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {".html", "text/html; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".svg", "image/svg+xml"}};
  for (const auto& [ending, type] : kTypes) {
    if (name.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

// The file that the path, without a query, names; null if there is none.
const DashboardFile* file_at(std::string_view path) {
  const auto name = path == "/" || path == kDashboard ? "index.html"
                    : path == kSignInPage             ? "sign-in.html"
                    : path == "/setup"                ? "setup.html"
                                       : path.substr(std::min(path.size(), kDashboard.size()));
  const auto files = dashboard_files();
  const auto found = std::find_if(files.begin(), files.end(),
                                  [name](const DashboardFile& file) { return file.name == name; });
  return found == files.end() ? nullptr : &*found;
}

// Only files of ours are loaded and run, no other site shows the page in a frame, and a browser
// asks each time whether a file has changed.
reply::OwnHead head_of(const client::Client& client, const DashboardFile& file) {
  auto head = reply::own_head(client, 200, type_of(file.name));
  head.set(field::etag, file.etag);
  head.set(field::cache_control, "no-cache");
  // At / a program that is no browser gets a list of pages as text.
  head.set(field::vary, "Accept");
  head.set("Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
           "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  head.set("X-Content-Type-Options", "nosniff");
  head.set("Referrer-Policy", "no-referrer");
  return head;
}

reply::OwnMessage json_message(const Visit& visit, std::string json) {
  auto message = reply::own_message(visit.client, 200, "application/json", std::move(json));
  message.set("X-Content-Type-Options", "nosniff");
  return message;
}

// A scan takes some milliseconds, so it is for another thread.
PageAnswer send_scanned(const Visit& visit, std::function<std::string()> scan) {
  return send_page(visit, json_message(visit, {}), std::move(scan));
}

}  // namespace

PageAnswer serve_dashboard(const Visit& visit) {
  const auto path = visit.path().substr(0, visit.path().find('?'));
  if (path == "/hearsay") {
    auto moved = reply::own_message(visit.client, 308, "", "");
    // The browser's cookie is for the paths below /hearsay/ alone, so the page must have one of
    // them.
    moved.set(field::location, kDashboard);
    co_return co_await send_page(visit.client, std::move(moved));
  }
  const auto* file = file_at(path);
  if (!file)
    co_return reply::Refusal{404, "the dashboard has no such file", observe::Tag::own_page, {}};
  auto head = head_of(visit.client, *file);
  // The files change with the program alone. A browser that asks each time costs a few bytes, and
  // never shows an old script with a new page.
  const http::StoredValidators validators{file->etag, {}};
  const auto now = machine::whole_seconds(visit.client.access.clock().shown());
  if (http::not_modified(visit.request.head.fields, validators, now)) {
    head.result(304);
    const beast::http::response<beast::http::empty_body> message(std::move(head));
    co_await reply::send_message(visit.client, message);
    co_return std::nullopt;
  }
  const beast::span<const char> bytes(file->content.data(), file->content.size());
  const beast::http::response<beast::http::span_body<const char>> message(std::move(head), bytes);
  co_await reply::send_message(visit.client, message);
  co_return std::nullopt;
}

PageAnswer serve_about(const Visit& visit) {
  const auto& pages = visit.pages;
  const auto started = machine::whole_seconds(pages.clock().shown(pages.clock().started()));
  auto json =
      fmt::format(R"({{"name":"{}","version":"{}","started":{},"admin":{},"signed_in":{}}})"
                  "\n",
                  pages.instance.name, kVersion, started.time_since_epoch().count(),
                  visit.caller.is_admin(), is_signed_in(pages, visit.client, visit.request));
  return send_page(visit.client, json_message(visit, std::move(json)));
}

PageAnswer serve_history(const Visit& visit) {
  const auto wanted = only_parameter(visit.path(), "span");
  if (!wanted) return refused(reply::Refusal::bad(wanted.error().text));
  const auto span = wanted->value_or("hour");
  if (span != "hour" && span != "day") {
    return refused(reply::Refusal::bad("expected ?span=hour or ?span=day"));
  }
  const auto& history = visit.pages.observed.history;
  auto told = span == "day" ? history.day() : history.hour();
  // Readers compare with their own clocks, so they get wall time.
  told.end = machine::whole_seconds(visit.pages.clock().shown(told.end));
  return send_page(visit.client, json_message(visit, history_json(told)));
}

PageAnswer serve_recent_requests(const Visit& visit) {
  return send_scanned(visit, [&visit] {
    observe::RecentRequests::Known none;
    const auto requests = visit.pages.observed.recent.newer_than(none);
    return requests_json(newest_of_each_kind(requests, observe::RecentRequests::kMost)) + "\n";
  });
}

PageAnswer serve_busiest(const Visit& visit) {
  return send_scanned(visit, [&visit] { return busiest_json(visit.pages, visit.policy()) + "\n"; });
}

PageAnswer serve_origins(const Visit& visit) {
  return send_scanned(visit, [&pages = visit.pages] {
    const auto now = pages.clock().steady();
    return origins_json(origins_view(pages, now), now, pages.clock().shown());
  });
}

PageAnswer serve_events(const Visit& visit) {
  // Without bytes for so long, a browser or a proxy before it may take the stream for dead.
  constexpr std::chrono::seconds kSilence{5};
  // A browser whose stream ends tries again after a second.
  constexpr std::string_view kRetry = "retry: 1000\n\n";
  using Rank = WaitingClients::Rank;
  const auto& pages = visit.pages;
  auto& client = visit.client;
  const bool admin = visit.caller.is_admin();
  WaitingClients::Waiting watcher(pages.visitors.watchers, crowd::counted_as(client.address),
                                  admin ? Rank::admin : Rank::other, client.access.executor());
  if (!watcher.has_place()) {
    co_return reply::Refusal{
        503,
        "so many dashboards are open already, here or elsewhere; close one, and try again",
        observe::Tag::own_page,
        {}};
  }
  auto head = reply::own_head(client, 200, "text/event-stream");
  head.set(field::cache_control, "no-store");
  auto error = co_await reply::send_head(client, head);
  const auto retry = asio::buffer(kRetry);
  if (!error) error = co_await client.response.body(retry);
  while (!error && !pages.instance.draining && !pages.instance.leaving && !client.state.head_only) {
    const auto news = co_await watcher.next(kSilence);
    // The rights may have changed since: an admin's news are for admins alone.
    const auto& in_force = *client.access.policy;
    const auto caller = policy::caller_of(in_force, client.address, client.door);
    if (with_badge(pages, client, visit.request, caller).is_admin() != admin) break;
    const std::string_view text = news ? std::string_view(*news) : ":\n\n";  // a comment
    error = co_await client.response.body(asio::const_buffer(text.data(), text.size()));
  }
  if (!error) co_await client.response.finish();
  co_return std::nullopt;
}

}  // namespace proxy::pages
