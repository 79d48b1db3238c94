// The rights to read our own pages.
#pragma once

#include <optional>

#include "proxy/pages/own_page.hpp"
#include "proxy/reply/refuse.hpp"

namespace proxy {

// Why the client may not read the page; nothing if it may.
std::optional<Refusal> check_reader(const PagesAccess& pages, const Client& client,
                                    const Request& request, const OwnPage& page);

// Whether the client is an admin by this policy, however the request came: by the control socket,
// by the setting access.admin, or as a browser that is signed in.
bool is_admin(const PagesAccess& pages, const Client& client, const Request& request,
              const Policy& policy);

// As check_reader(), for requests that change stored responses: admins only, not through another
// proxy, and with the field `X-Hearsay: 1`, which no page of another site can send.
std::optional<Refusal> check_admin(const PagesAccess& pages, const Client& client,
                                   const Request& request);

}  // namespace proxy
