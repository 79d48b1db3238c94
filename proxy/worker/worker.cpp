#include "proxy/worker/worker.hpp"

namespace proxy {

Worker::Worker(Shared& shared_by_all, std::size_t number)
    : shared(shared_by_all),
      deadlines(io.get_executor()),
      resolver(io.get_executor()),
      guard(shared.settings.access, shared.listening, &shared.lists),
      connector(deadlines, resolver, guard, shared.tls),
      pool(deadlines),
      failed(shared.settings.timeouts.unreachable),
      upstream{connector, pool, failed, buffers, shared.settings.timeouts, shared.settings.limits},
      counters(shared.metrics.of_thread(number)),
      log(shared.log.of_thread(number)) {}

}  // namespace proxy
