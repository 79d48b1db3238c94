// /admin/explain: what this proxy would do with a URL now, and why.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/client/request_body.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

// ?url=URL[&method=METHOD][&client=ADDRESS][&user=NAME], as explanation_json(). Without an address,
// explains what the asker itself may. 400 if a parameter is wrong.
net::Task<void> serve_explanation(const PagesAccess& pages, Client& client, const Request& request,
                                  RequestBody& body);

}  // namespace proxy
