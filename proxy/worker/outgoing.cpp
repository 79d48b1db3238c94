#include "proxy/worker/outgoing.hpp"

namespace proxy {

Outgoing::Outgoing(net::Executor executor, machine::Clock& clock, net::Deadlines& deadlines,
                   BufferPool& buffers, upstream::TlsClient& tls, upstream::OriginHealth& health,
                   upstream::NameHealth& names, upstream::TrafficOfThread& traffic,
                   const std::vector<net::tcp::endpoint>& listening,
                   upstream::DescriptorShortage shortage)
    : resolver(executor, clock, {{}, upstream::ResolverOptions{}.cached_names, &names}),
      guard({}, listening),
      connector({deadlines, resolver, guard, tls, clock}, std::move(shortage)),
      pool(deadlines),
      failed({}),
      upstream{{failed, health, traffic, clock}, connector, pool, buffers, {}, {}} {}

void Outgoing::follow(const Policy& policy) {
  guard.follow(policy.settings.access, &policy.lists);
  failed.remember_for(policy.settings.timeouts.unreachable);
  upstream.timeouts = policy.settings.timeouts;
  upstream.limits = policy.settings.limits;
}

}  // namespace proxy
