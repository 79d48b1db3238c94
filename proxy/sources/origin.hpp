// Where a client's request leads, and how far this proxy trusts that address.
#pragma once

#include <string>

#include "config/settings.hpp"
#include "proxy/http/target.hpp"
#include "proxy/lists/access_lists.hpp"
#include "proxy/request/request.hpp"
#include "proxy/upstream/endpoint.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy {

// Maps a client's URL to what is connected to: nothing else does.
upstream::Endpoint origin_of(const http::Target& target, const lists::AccessLists& lists);

// Points the plan at the request's origin, or in reverse mode at the origins of its mapping.
void aim(FetchPlan& plan, const Request& request, const lists::AccessLists& lists);

// A GET of the request's origin, with the time-outs of the settings. `head`: of the request that is
// sent, whole.
FetchPlan origin_plan(const Request& request, std::string head);

// Which fields of the origin's response count before Cache-Control (RFC 9213). What neighbours may
// have is kept by the rules that they know.
http::Targets targets_for(const Request& request, const config::CacheSettings& settings);

}  // namespace proxy
