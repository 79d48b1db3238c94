// The dashboard at /hearsay/: a page for a browser, and what it reads.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/client/request_body.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

inline constexpr std::string_view kDashboard = "/hearsay/";
// A page of the dashboard for a browser that has a ticket behind the `#` of its URL.
inline constexpr std::string_view kSignInPage = "/hearsay/sign-in";

// Answers with the page at / and kDashboard, and with the page's files at the paths below.
net::Task<void> serve_dashboard(const PagesAccess& pages, Client& client, const Request& request,
                                RequestBody& body);

// {"name", "version", "admin": whether the client may see requests, what is stored and why, and
// purge, "signed_in": whether by a badge}.
net::Task<void> serve_about(const PagesAccess& pages, Client& client, const Request& request,
                            RequestBody& body);

// history_json() of the parameter `span`: "hour" (the default) or "day".
net::Task<void> serve_history(const PagesAccess& pages, Client& client, const Request& request,
                              RequestBody& body);

// requests_json() of the latest requests, at most RecentRequests::kMost of each kind.
net::Task<void> serve_recent_requests(const PagesAccess& pages, Client& client,
                                      const Request& request, RequestBody& body);

// busiest_json().
net::Task<void> serve_busiest(const PagesAccess& pages, Client& client, const Request& request,
                              RequestBody& body);

// origins_json(): origins of the last hour, and the requests that wait.
net::Task<void> serve_origins(const PagesAccess& pages, Client& client, const Request& request,
                              RequestBody& body);

// news_json() each second, for admins with_requests(), as server-sent events, until the client
// leaves, ceases to be or becomes an admin, or the proxy drains. There is room for Watchers::kMost
// clients; others get 503.
net::Task<void> serve_events(const PagesAccess& pages, Client& client, const Request& request,
                             RequestBody& body);

}  // namespace proxy
