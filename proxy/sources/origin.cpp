#include "proxy/sources/origin.hpp"

#include "proxy/request/gateway.hpp"
#include "proxy/worker/worker.hpp"

namespace proxy {

upstream::Endpoint origin_of(const http::Target& target, const lists::AccessLists& lists) {
  const auto trust =
      lists.lifts_addresses(target) ? upstream::Trust::allowed : upstream::Trust::client;
  return {target.https(), std::string(target.host()), target.port(), trust};
}

void aim(FetchPlan& plan, const Request& request, const lists::AccessLists& lists) {
  plan.to = origin_of(request.target, lists);
  if (request.mapping()) plan.origins = &request.mapping()->origins;
}

FetchPlan origin_plan(const Shared& shared, const Request& request, std::string head) {
  const auto& timeouts = shared.settings.timeouts;
  FetchPlan plan;
  plan.head = std::move(head);
  plan.method = "GET";
  plan.connect = timeouts.connect;
  plan.first_byte = timeouts.first_byte;
  aim(plan, request, shared.lists);
  return plan;
}

http::Targets targets_for(const Request& request, const config::CacheSettings& settings) {
  return request.mapping() && !request.may_be_shared() ? settings.targeted_reverse
                                                       : settings.targeted;
}

}  // namespace proxy
