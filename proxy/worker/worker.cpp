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
      hedges(&process.metrics.of_thread(number).hedges),
      counters(process.metrics.of_thread(number)),
      log(process.log.of_thread(number)),
      recent(process.recent.add_thread()) {}

void Worker::follow(PinnedPolicy policy) {
  const auto before = std::exchange(policy_, pinned_apart(std::move(policy)));
  outgoing.follow(*policy_);
}

}  // namespace proxy
