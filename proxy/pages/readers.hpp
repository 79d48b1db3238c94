// Who may ask for a page of ours.
#pragma once

#include <optional>

#include "proxy/pages/own_page.hpp"
#include "proxy/reply/refuse.hpp"

namespace proxy {

// Why the client may not have the page; nothing if the client may.
std::optional<Refusal> check_reader(const Client& client, const Request& request,
                                    const OwnPage& page);

// The same for what changes stored responses: admins only (setting access.admin), not through
// another proxy, and with the field `X-Hearsay: 1`, which no page of another site can send.
std::optional<Refusal> check_admin(const Client& client, const Request& request);

}  // namespace proxy
