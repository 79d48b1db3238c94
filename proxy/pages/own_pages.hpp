// The pages of the proxy itself: what monitors, neighbours and admins ask for.
#pragma once

#include "proxy/pages/own_page.hpp"

namespace proxy {

// The page that the request is for: a row of the table, or one that answers 404; null if the
// request is for another server. Where a reverse mapping covers the host, OwnPage::mapped decides.
const OwnPage* own_page(const Client& client, const Request& request);

// Answers with the page, or refuses what its row does not allow.
net::Task<void> serve_own(Client& client, const Request& request, const OwnPage& page,
                          RequestBody& body);

}  // namespace proxy
