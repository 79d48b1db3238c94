// The dashboard at /hearsay/: a page for a browser, and what it reads.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/client/request_body.hpp"
#include "proxy/request/request.hpp"

namespace proxy {

inline constexpr std::string_view kDashboard = "/hearsay/";

// Answers with the page at / and kDashboard, and with the page's files at the paths below.
net::Task<void> serve_dashboard(Client& client, const Request& request, RequestBody& body);

// {"name", "version", "admin": whether the client may purge, and see what is stored and why}.
net::Task<void> serve_about(Client& client, const Request& request, RequestBody& body);

// history_json() of the parameter `span`: "hour" (the default) or "day".
net::Task<void> serve_history(Client& client, const Request& request, RequestBody& body);

// requests_json() of the latest requests, at most RecentRequests::kMost of each kind.
net::Task<void> serve_recent_requests(Client& client, const Request& request, RequestBody& body);

// news_json() each second, as server-sent events, until the client leaves or the proxy drains.
// There is room for Watchers::kMost clients; others get 503.
net::Task<void> serve_events(Client& client, const Request& request, RequestBody& body);

}  // namespace proxy
