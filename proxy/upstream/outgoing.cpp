#include "proxy/upstream/outgoing.hpp"

namespace proxy::upstream {

Outgoing::Outgoing(const Of& of, DescriptorShortage shortage)
    : resolver(of.executor, of.clock, {{}, ResolverOptions{}.cached_names, &of.shared.names}),
      guard({}, of.listening),
      connector({of.deadlines, resolver, guard, of.shared.tls, of.clock}, std::move(shortage)),
      pool(of.deadlines),
      // How long failures are remembered is a setting, so none is known before follow().
      failed({}),
      upstream{{failed, of.shared.health, of.shared.traffic.add_thread(), of.clock},
               connector,
               pool,
               of.buffers,
               {},
               {}} {}

void Outgoing::follow(const config::Settings& settings, const lists::AccessLists& lists) {
  guard.follow(settings.access, &lists);
  failed.remember_for(settings.timeouts.unreachable);
  upstream.timeouts = settings.timeouts;
  upstream.limits = settings.limits;
}

}  // namespace proxy::upstream
