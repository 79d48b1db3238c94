// /admin/reload: reads the settings again.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/client/request_body.hpp"
#include "proxy/pages/reloaded.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

// As SIGHUP does, and answers with reloaded_json() once it is done: 200 if the settings are in
// force, 422 if the file has errors. While the proxy drains: 503.
net::Task<void> serve_reload(const PagesAccess& pages, Client& client, const Request& request,
                             RequestBody& body);

// {"applied": true, "file": "PATH", "needs_restart": ["threads", ...], "errors": [{"where": "PATH,
// line 3, column 7, peers[0].url", "what": "..."}, ...]}
std::string reloaded_json(const Reloaded& reloaded);

}  // namespace proxy
