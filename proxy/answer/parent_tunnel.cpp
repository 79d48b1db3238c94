#include "proxy/answer/parent_tunnel.hpp"

#include <algorithm>
#include <utility>

#include "proxy/answer/tunnel.hpp"
#include "proxy/http/forwarding.hpp"
#include "proxy/reply/refuse.hpp"
#include "proxy/sources/origin.hpp"
#include "proxy/upstream/error.hpp"

namespace proxy {

using net::Task;

namespace {

constexpr int kMostInterimHeads = 32;

FetchPlan plan_for(const Client& client, const Request& request, const upstream::Route& route) {
  FetchPlan plan;
  plan.to = origin_of(request.target, request.policy().lists);
  plan.route = route;
  plan.parents_only = true;
  plan.method = "CONNECT";
  http::append_request_head(plan.head, {.method = plan.method,
                                        .target = request.target.url(),
                                        .host = request.target.authority(),
                                        .fields = request.head.fields,
                                        .received_minor = request.head.minor,
                                        .name = client.access.name()});
  plan.connect = request.policy().settings.timeouts.connect;
  plan.first_byte = request.policy().settings.timeouts.first_byte;
  return plan;
}

// The status of the parent's final answer.
Task<Outcome<unsigned>> ask(Fetch& fetch) {
  const auto started = co_await fetch.start();
  if (!started) co_return started.error();
  for (int interims = 0; interims <= kMostInterimHeads; ++interims) {
    const auto head = co_await fetch.response();
    if (!head) co_return head.error();
    if (!(*head)->interim()) co_return (*head)->status;
  }
  co_return Failure{Failure::Where::upstream, Failure::What::malformed, {}};
}

bool has_no_way(const Outcome<unsigned>& answered) {
  return !answered || *answered >= 500;
}

}  // namespace

Task<ThroughParent> tunnel_through_parent(Client& client, const Request& request,
                                          const upstream::Route& route) {
  Fetch fetch(client.access.fetching.sources.upstream, plan_for(client, request, route));
  const ResponseWriter::WaitsFor waits(client.response, [&fetch] { fetch.abandon(); });
  const auto answered = co_await ask(fetch);
  const bool is_denied = !answered && answered.error().what == Failure::What::denied;
  if (client.response.was_cut()) co_return ThroughParent::answered;
  if (has_no_way(answered) && !is_denied && route.direct) co_return ThroughParent::no_way;
  if (!answered) {
    co_await refuse(client, request, answered.error(), http::Forward::method);
    co_return ThroughParent::answered;
  }
  const auto& parent = *fetch.server().parent();
  client.record.hierarchy = Hierarchy::parent;
  client.record.upstream_host = parent.at.host;
  if (*answered >= 300) {
    auto refusal = Refusal::refused_by_parent(*answered, parent.name);
    co_await refuse(client, request, std::move(refusal));
    co_return ThroughParent::answered;
  }
  client.record.status = 200;
  TunnelEnds ends{*client.response.raw_connection(), fetch.stream(),
                  established_head(client, parent.name), fetch.beyond_head()};
  co_await carry_both(client, ends);
  co_return ThroughParent::answered;
}

}  // namespace proxy
