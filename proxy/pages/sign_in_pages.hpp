// Signs browsers in to the dashboard as administrator, and out.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/client/client.hpp"
#include "proxy/client/request_body.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

// {"link": the page that signs a browser in, with a ticket, "link_seconds", "session_seconds"}.
net::Task<void> serve_ticket(const PagesAccess& pages, Client& client, const Request& request,
                             RequestBody& body);

// Ends all tickets and badges. {"revoked": the number of browsers that were signed in}.
net::Task<void> serve_revocation(const PagesAccess& pages, Client& client, const Request& request,
                                 RequestBody& body);

// `Authorization: Bearer TICKET`: gives the browser a badge for the ticket, as cookies.
net::Task<void> serve_sign_in(const PagesAccess& pages, Client& client, const Request& request,
                              RequestBody& body);

// Ends the badge of this browser.
net::Task<void> serve_sign_out(const PagesAccess& pages, Client& client, const Request& request,
                               RequestBody& body);

// The authority under which browsers reach the one of our listening sockets that is open to most of
// them. For a socket of all addresses that is `own_name`, else `machine`, else loopback. Pure.
std::string reachable_at(const std::vector<net::tcp::endpoint>& listening,
                         std::string_view own_name,
                         const std::optional<net::asio::ip::address>& machine);

}  // namespace proxy
