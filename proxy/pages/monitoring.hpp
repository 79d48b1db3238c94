// The pages that monitors read.
#pragma once

#include "proxy/client/client.hpp"
#include "proxy/client/request_body.hpp"
#include "proxy/policy/request.hpp"

namespace proxy {

// /digest: our own filters and those of the neighbours, as JSON.
net::Task<void> serve_digest_json(const PagesAccess& pages, Client& client, const Request& request,
                                  RequestBody& body);

// /metrics, for Prometheus.
net::Task<void> serve_metrics(const PagesAccess& pages, Client& client, const Request& request,
                              RequestBody& body);

// /health: 200 while requests are accepted, 503 while the proxy drains. The body also states the
// disk's state.
net::Task<void> serve_health(const PagesAccess& pages, Client& client, const Request& request,
                             RequestBody& body);

}  // namespace proxy
