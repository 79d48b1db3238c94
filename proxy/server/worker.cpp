#include "proxy/server/worker.hpp"

namespace proxy {
namespace {

// The same policy with a reference count for this thread alone.
PinnedPolicy pinned_apart(PinnedPolicy policy) {
  const auto own = std::make_shared<const PinnedPolicy>(std::move(policy));
  return {own, own->get()};
}

}  // namespace

Shared::Shared(Of of)
    : instance{.name = std::move(of.name),
               .listening = of.listening,
               .memory_limit = of.memory_limit},
      cache{.clock = of.clock,
            .budget = of.storage.budget,
            .store = of.storage.store,
            .disk = of.storage.disk.get(),
            .placement = &of.storage.placement,
            .fills = of.storage.fills,
            .successor = successor,
            .aside = std::move(of.aside)},
      runs(of.storage.runs),
      upstream(of.tls, of.clock),
      password_checks(of.clock),
      crowd(of.clock, of.descriptors),
      observed(of.settings.log, of.threads, of.clock),
      pages{.cache = cache,
            .transit = of.storage.transit,
            .publisher = of.publisher,
            .upstream = upstream,
            .crowd = crowd,
            .observed = observed,
            .visitors = visitors,
            .instance = instance} {
  observed.disk_watch = &of.storage.watch;
  observed.facts = of.facts;
}

Worker::Worker(Shared& of_all, std::size_t number)
    : shared(of_all),
      deadlines(io.get_executor()),
      outgoing({.executor = io.get_executor(),
                .deadlines = deadlines,
                .buffers = buffers,
                .clock = shared.cache.clock,
                .shared = shared.upstream,
                .listening = shared.instance.listening},
               {shared.crowd.descriptors.scarce_from,
                [this] { crowd.doorkeeper.free_descriptors(shared.cache.clock.steady()); }}),
      crowd(shared.crowd,
            {.deadlines = deadlines,
             .clock = shared.cache.clock,
             .policy = policy_,
             .transit = shared.pages.transit,
             .found_no_room = shared.cache.found_no_room},
            outgoing.pool),
      observed(shared.observed, number),
      cache{shared.cache, io.get_executor()},
      sources{.shared = {shared.instance.name, shared.pages.publisher, shared.site_fetches,
                         shared.upstream.clocks, shared.upstream.names},
              .cache = cache,
              .upstream = outgoing.upstream,
              .guard = outgoing.guard,
              .resolver = outgoing.resolver,
              .executor = io.get_executor(),
              .second_questions = observed.counters.hedges},
      fetching{sources, shared.runs, shared.pages.transit, shared.upstream.range_refusals,
               observed.counters},
      serving{.fetching = fetching,
              .policy = policy_,
              .deadlines = deadlines,
              .buffers = buffers,
              .pipes = pipes,
              .crowd = crowd,
              .password_checks = shared.password_checks,
              .observed = shared.observed} {}

void Worker::follow(PinnedPolicy policy) {
  const auto before = std::exchange(policy_, pinned_apart(std::move(policy)));
  outgoing.follow(policy_->settings, policy_->lists);
  sources.has_neighbours = !policy_->directory->peers().empty();
}

}  // namespace proxy
