#include "proxy/worker/worker.hpp"

namespace proxy {
namespace {

// The same policy with a reference count for this thread alone.
PinnedPolicy pinned_apart(PinnedPolicy policy) {
  const auto own = std::make_shared<const PinnedPolicy>(std::move(policy));
  return {own, own->get()};
}

}  // namespace

Worker::Worker(Process& of_all, std::size_t number)
    : process(of_all),
      deadlines(io.get_executor()),
      outgoing(io.get_executor(), deadlines, buffers, process.tls, process.origin_health,
               process.name_health, process.origin_traffic.add_thread(), process.listening,
               {process.descriptors.scarce_from, [this] { doorkeeper.free_descriptors(); }}),
      counters(process.metrics.of_thread(number)),
      cache{process.cache, io.get_executor()},
      sources{.shared = {process.name, process.publisher, process.site_fetches,
                         process.origin_clocks, process.name_health},
              .cache = cache,
              .upstream = outgoing.upstream,
              .guard = outgoing.guard,
              .resolver = outgoing.resolver,
              .executor = io.get_executor(),
              .second_questions = counters.hedges},
      log(process.log.of_thread(number)),
      recent(process.recent.add_thread()) {}

void Worker::follow(PinnedPolicy policy) {
  const auto before = std::exchange(policy_, pinned_apart(std::move(policy)));
  outgoing.follow(*policy_);
  sources.has_neighbours = !policy_->directory->peers().empty();
}

}  // namespace proxy
