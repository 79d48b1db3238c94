// The origin of a request, and how far this proxy trusts its address.
#pragma once

#include <string>

#include "config/settings.hpp"
#include "peers/accuracy.hpp"
#include "proxy/http/target.hpp"
#include "proxy/lists/access_lists.hpp"
#include "proxy/policy/request.hpp"
#include "proxy/sources/candidates.hpp"
#include "proxy/upstream/endpoint.hpp"
#include "proxy/upstream/fetch.hpp"

namespace proxy::sources {

struct SourceAccess;

// Maps a client's URL to the endpoint to connect to. No other function may do that.
upstream::Endpoint origin_of(const http::Target& target, const lists::AccessLists& lists);

// The route to the request's origin. It leads nowhere if the request is offline. It has no parents
// if a mapping of reverse mode names the origin.
upstream::Route route_of(const policy::Request& request);

// Whether the request's origin has asked to be left alone for a while. This proxy then asks it
// nothing of its own accord.
bool origin_rests(const SourceAccess& access, const policy::Request& request);

// The time to the first byte of the request's origin, as far as this thread has seen.
peers::FirstByte origin_takes(const SourceAccess& access, const policy::Request& request,
                              peers::SteadyTime now);

// How often this thread has found the responses of the request's origin being fetched by a
// neighbour, and the result of another question.
SiteLuck site_luck(const SourceAccess& access, const policy::Request& request,
                   peers::SteadyTime now);
void record_site_luck(SourceAccess& access, const policy::Request& request,
                      SiteLuck::Question question);

// Points the plan at the request's origin, by this route; or in reverse mode at the origins of its
// mapping.
void aim(upstream::FetchPlan& plan, const policy::Request& request, upstream::Route route);

// A GET to the request's origin, with the time-outs of the settings. `head`: the whole head to
// send. `route`: in place of route_of().
upstream::FetchPlan origin_plan(const policy::Request& request, std::string head);
upstream::FetchPlan origin_plan(const policy::Request& request, std::string head,
                                upstream::Route route);

// The fields of the origin's response that replace Cache-Control (RFC 9213). A response of reverse
// mode that neighbours may not get follows CacheSettings::targeted_reverse. Every other response
// follows CacheSettings::targeted, as it does at the neighbours.
http::Targets targets_for(const policy::Request& request, const config::CacheSettings& settings);

// What the response to the request says of storing and reuse.
http::CacheControl control_for(const policy::Request& request, const http::ResponseHead& response);

}  // namespace proxy::sources
