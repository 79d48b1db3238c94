// The cookie by which a browser shows that it is signed in (pages/badges.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/client/client.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

// Whether the request has the badge of a browser that is signed in.
bool is_signed_in(const PagesAccess& pages, const Client& client, const Request& request);

// The badges that the request shows. Browsers send cookies of one host to all its ports, so the
// cookie's name has the port. Longer lists than a browser of ours sends are cut.
std::vector<std::string_view> badges_shown(const Request& request);

// The values of Set-Cookie that give the browser the badge; an empty badge removes it. The paths
// are those of our own pages: in reverse mode all others lead to origins, which must not see it.
std::vector<std::string> badge_cookies(const http::Target& target, std::string_view badge);

}  // namespace proxy
