#include "proxy/sources/origin.hpp"

#include <utility>

#include "proxy/policy/policy.hpp"
#include "proxy/sources/source_access.hpp"

namespace proxy::sources {

// A list that allows the target lifts the rules about addresses for it.
upstream::Endpoint origin_of(const http::Target& target, const lists::AccessLists& lists) {
  const auto trust =
      lists.lifts_addresses(target) ? upstream::NamedBy::allowed : upstream::NamedBy::client;
  return {target.https(), std::string(target.host()), target.port(), trust};
}

upstream::Route route_of(const policy::Request& request) {
  if (request.facts.offline) return {.parents = {}, .order = {}, .direct = false, .site = {}};
  if (!request.terms().uses_parents) return {};
  return request.policy().routes.find(request.target);
}

// Only what this proxy asks of its own accord waits: a client that wants an answer may be luckier.
bool origin_rests(const SourceAccess& access, const policy::Request& request) {
  const auto origin = origin_of(request.target, request.policy().lists);
  return access.upstream.health.rests(origin, access.now());
}

peers::FirstByte origin_takes(const SourceAccess& access, const policy::Request& request,
                              peers::SteadyTime now) {
  return access.origin_times.find(origin_of(request.target, request.policy().lists), now);
}

SiteLuck site_luck(const SourceAccess& access, const policy::Request& request,
                   peers::SteadyTime now) {
  return access.origin_times.luck_of(origin_of(request.target, request.policy().lists), now);
}

void record_site_luck(SourceAccess& access, const policy::Request& request,
                      SiteLuck::Question question) {
  const auto origin = origin_of(request.target, request.policy().lists);
  access.origin_times.record_luck(origin, question, access.now());
}

void aim(upstream::FetchPlan& plan, const policy::Request& request, upstream::Route route) {
  plan.to = origin_of(request.target, request.policy().lists);
  plan.route = std::move(route);
  if (request.mapping()) plan.origins = request.mapping()->origins;
}

upstream::FetchPlan origin_plan(const policy::Request& request, std::string head) {
  return origin_plan(request, std::move(head), route_of(request));
}

upstream::FetchPlan origin_plan(const policy::Request& request, std::string head,
                                upstream::Route route) {
  const auto& timeouts = request.policy().settings.timeouts;
  upstream::FetchPlan plan{.to = {},
                           .head = std::move(head),
                           .method = "GET",
                           .connect = timeouts.connect,
                           .first_byte = timeouts.first_byte};
  aim(plan, request, std::move(route));
  return plan;
}

http::Targets targets_for(const policy::Request& request, const config::CacheSettings& settings) {
  // Targeted fields of a gateway are for this gateway; a neighbour that gets the response would
  // judge it by other fields than we do.
  const bool ours_alone = !request.terms().chooses_origin && !request.may_be_shared();
  return ours_alone ? settings.targeted_reverse : settings.targeted;
}

http::CacheControl control_for(const policy::Request& request, const http::ResponseHead& response) {
  const auto targets = targets_for(request, request.policy().settings.cache);
  return http::response_cache_control(response.fields, targets);
}

}  // namespace proxy::sources
