// Signs browsers in to the dashboard as administrator: by a ticket in a link, which gives a badge
// in a cookie (pages/badges.hpp). The pages are declared in own_pages.hpp.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/pages/own_pages.hpp"

namespace proxy::pages {

// Whether the request has the badge of a browser that is signed in.
bool is_signed_in(const PagesAccess& pages, const client::Client& client,
                  const policy::Request& request);

// The badges that the request shows. Browsers send cookies of one host to all its ports, so the
// cookie's name has the port. Longer lists than a browser of ours sends are cut.
std::vector<std::string_view> badges_shown(const policy::Request& request);

// The values of Set-Cookie that give the browser the badge; an empty badge removes it. The paths
// are those of our own pages: in reverse mode all others lead to origins, which must not see it.
std::vector<std::string> badge_cookies(const http::Target& target, std::string_view badge);

// The authority under which browsers reach the one of our listening sockets that is open to most of
// them. For a socket of all addresses that is `own_name`, else `machine`, else loopback. Pure.
std::string reachable_at(const std::vector<net::tcp::endpoint>& listening,
                         std::string_view own_name,
                         const std::optional<net::asio::ip::address>& machine);

}  // namespace proxy::pages
