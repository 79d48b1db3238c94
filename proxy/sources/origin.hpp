// Where a client's request leads, and how far we trust it there.
#pragma once

#include "config/settings.hpp"
#include "proxy/http/target.hpp"
#include "proxy/lists/access_lists.hpp"
#include "proxy/request/request.hpp"
#include "proxy/upstream/endpoint.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy {

// The one way from a client's URL to what is connected to.
upstream::Endpoint origin_of(const http::Target& target, const lists::AccessLists& lists);

// Points the plan there, or in reverse mode to the origins of the request's mapping.
void aim(FetchPlan& plan, const Request& request, const lists::AccessLists& lists);

// Which fields of its response count before Cache-Control (RFC 9213). What neighbours may have is
// kept by the rules that they know.
http::Targets targets_for(const Request& request, const config::CacheSettings& settings);

}  // namespace proxy
