// The pages of the proxy itself, for monitors, neighbours and admins.
#pragma once

#include "proxy/pages/own_page.hpp"

namespace proxy {

// Returns the page that the request is for: a row of the table, or a page that answers 404. Null:
// the request is for another server. If a reverse mapping covers the host, OwnPage::mapped decides.
const OwnPage* own_page(const Client& client, const Request& request);

// Answers with the page, or refuses a request that its row does not allow.
net::Task<void> serve_own(const PagesAccess& pages, Client& client, const Request& request,
                          const OwnPage& page, RequestBody& body);

}  // namespace proxy
