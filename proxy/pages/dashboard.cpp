#include "proxy/pages/dashboard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/span_body.hpp>

#include "proxy/http/validators.hpp"
#include "proxy/pages/badge_cookie.hpp"
#include "proxy/pages/dashboard_files.hpp"
#include "proxy/pages/live_json.hpp"
#include "proxy/pages/origins_json.hpp"
#include "proxy/pages/query.hpp"
#include "proxy/pages/readers.hpp"
#include "proxy/reply/own_message.hpp"
#include "proxy/reply/refuse.hpp"
#include "proxy/version.hpp"

namespace proxy {

using beast::http::field;
using net::Task;
namespace asio = net::asio;

namespace {

constexpr std::string_view kPage = "index.html";
// A browser whose stream ends tries again after a second.
constexpr std::string_view kRetry = "retry: 1000\n\n";

struct FileType {
  std::string_view ending;
  std::string_view type;
};
constexpr FileType kTypes[] = {{".html", "text/html; charset=utf-8"},
                               {".css", "text/css; charset=utf-8"},
                               {".js", "text/javascript; charset=utf-8"},
                               {".svg", "image/svg+xml"}};

std::string_view type_of(std::string_view name) {
  for (const auto& [ending, type] : kTypes) {
    if (name.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

// The file that the path, without a query, names; null if there is none.
const DashboardFile* file_at(std::string_view path) {
  const auto name = path == "/" || path == kDashboard ? kPage
                    : path == kSignInPage             ? "sign-in.html"
                                          : path.substr(std::min(path.size(), kDashboard.size()));
  const auto files = dashboard_files();
  const auto found = std::find_if(files.begin(), files.end(),
                                  [name](const DashboardFile& file) { return file.name == name; });
  return found == files.end() ? nullptr : &*found;
}

// Only files of ours are loaded and run, no other site shows the page in a frame, and a browser
// asks each time whether a file has changed.
OwnHead head_of(const Client& client, const DashboardFile& file) {
  auto head = own_head(client, 200, type_of(file.name));
  head.set(field::etag, file.etag);
  head.set(field::cache_control, "no-cache");
  head.set(field::vary, "Accept");
  head.set("Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
           "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  head.set("X-Content-Type-Options", "nosniff");
  head.set("Referrer-Policy", "no-referrer");
  return head;
}

Task<void> send_moved(Client& client) {
  auto message = own_message(client, 308, "", "");
  message.set(field::location, kDashboard);
  co_await send_message(client, message);
}

Task<void> send_json(Client& client, std::string json) {
  auto message = own_message(client, 200, "application/json", std::move(json));
  message.set("X-Content-Type-Options", "nosniff");
  co_await send_message(client, message);
}

// The scan takes some milliseconds: the thread Cache::aside runs it.
Task<std::string> tell_recent_requests(const PagesAccess& pages, const Policy& policy) {
  RecentRequests::Known none;
  const auto requests = pages.observed.recent.newer_than(none);
  co_return requests_json(newest_of_each_kind(requests, RecentRequests::kMost), policy) + "\n";
}

Task<std::string> tell_busiest(const PagesAccess& pages, const Policy& policy) {
  co_return busiest_json(pages, policy) + "\n";
}

Task<std::string> tell_origins(const PagesAccess& pages) {
  const auto now = pages.clock().steady();
  const auto view = origins_view(pages, now);
  co_return origins_json(view, now, pages.clock().shown());
}

}  // namespace

Task<void> serve_dashboard(const PagesAccess&, Client& client, const Request& request,
                           RequestBody&) {
  const std::string_view target = request.target.path();
  const auto path = target.substr(0, target.find('?'));
  if (path == "/hearsay") co_return co_await send_moved(client);
  const auto* file = file_at(path);
  if (!file) {
    Refusal refusal{404, "the dashboard has no such file", Tag::own_page, {}};
    co_return co_await refuse(client, request, std::move(refusal));
  }
  auto head = head_of(client, *file);
  const http::StoredValidators validators{file->etag, {}};
  const auto now = machine::whole_seconds(client.access.clock().shown());
  if (http::not_modified(request.head.fields, validators, now)) {
    set_status(head, 304);
    const beast::http::response<beast::http::empty_body> message(std::move(head));
    co_await send_message(client, message);
    co_return;
  }
  const beast::span<const char> bytes(file->content.data(), file->content.size());
  const beast::http::response<beast::http::span_body<const char>> message(std::move(head), bytes);
  co_await send_message(client, message);
}

Task<void> serve_about(const PagesAccess& pages, Client& client, const Request& request,
                       RequestBody&) {
  const auto started = machine::whole_seconds(pages.clock().shown(pages.clock().started()));
  auto json = fmt::format(R"({{"name":"{}","version":"{}","started":{},"admin":{},"signed_in":{}}})"
                          "\n",
                          pages.instance.name, kVersion, started.time_since_epoch().count(),
                          is_admin(pages, client, request, request.policy()),
                          is_signed_in(pages, client, request));
  co_await send_json(client, std::move(json));
}

Task<void> serve_history(const PagesAccess& pages, Client& client, const Request& request,
                         RequestBody&) {
  const auto wanted = only_parameter(request.target.path(), "span");
  if (!wanted) {
    auto refusal = Refusal::bad(wanted.error().text);
    co_return co_await refuse(client, request, std::move(refusal));
  }
  const auto span = wanted->value_or("hour");
  if (span != "hour" && span != "day") {
    auto refusal = Refusal::bad("expected ?span=hour or ?span=day");
    co_return co_await refuse(client, request, std::move(refusal));
  }
  auto told = span == "day" ? pages.observed.history.day() : pages.observed.history.hour();
  told.end = machine::whole_seconds(pages.clock().shown(told.end));
  auto json = history_json(told);
  co_await send_json(client, std::move(json));
}

Task<void> serve_recent_requests(const PagesAccess& pages, Client& client, const Request& request,
                                 RequestBody&) {
  auto telling = tell_recent_requests(pages, request.policy());
  auto json = co_await net::run_on(pages.cache.aside, std::move(telling));
  co_await send_json(client, std::move(json));
}

Task<void> serve_busiest(const PagesAccess& pages, Client& client, const Request& request,
                         RequestBody&) {
  auto telling = tell_busiest(pages, request.policy());
  auto json = co_await net::run_on(pages.cache.aside, std::move(telling));
  co_await send_json(client, std::move(json));
}

Task<void> serve_origins(const PagesAccess& pages, Client& client, const Request&, RequestBody&) {
  auto telling = tell_origins(pages);
  auto json = co_await net::run_on(pages.cache.aside, std::move(telling));
  co_await send_json(client, std::move(json));
}

Task<void> serve_events(const PagesAccess& pages, Client& client, const Request& request,
                        RequestBody&) {
  constexpr std::chrono::seconds kSilence{5};
  const bool admin = is_admin(pages, client, request, request.policy());
  Watchers::Watcher watcher(pages.visitors.watchers, client.address, admin,
                            client.access.executor());
  if (!watcher.has_place()) {
    Refusal refusal{
        503,
        "so many dashboards are open already, here or elsewhere; close one, and try again",
        Tag::own_page,
        {}};
    co_return co_await refuse(client, request, std::move(refusal));
  }
  auto head = own_head(client, 200, "text/event-stream");
  head.set(field::cache_control, "no-store");
  auto error = co_await send_head(client, head);
  const auto retry = asio::buffer(kRetry);
  if (!error) error = co_await client.response.body(retry);
  while (!error && !pages.instance.draining && !pages.instance.leaving &&
         !client.response.head_only()) {
    const auto news = co_await watcher.next(kSilence);
    if (is_admin(pages, client, request, *client.access.policy) != admin) break;
    const std::string_view text = news ? std::string_view(*news) : ":\n\n";  // a comment
    error = co_await client.response.body(asio::const_buffer(text.data(), text.size()));
  }
  if (!error) co_await client.response.finish();
}

}  // namespace proxy
