#include "proxy/server/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>

#include "digest/random_words.hpp"

namespace proxy::server {

namespace asio = net::asio;

namespace {

// The same policy with a reference count for this thread alone.
policy::PinnedPolicy pinned_apart(policy::PinnedPolicy policy) {
  // A count that all threads change would slow each of them.
  const auto own = std::make_shared<const policy::PinnedPolicy>(std::move(policy));
  return {own, own->get()};
}

net::Task<void> ask_name(Worker& worker, std::string host) {
  co_await worker.outgoing.resolver.resolve(std::move(host));
}

}  // namespace

Shared::Shared(Of of)
    : instance{.name = std::move(of.name),
               .listening = of.listening,
               .memory_limit = of.memory_limit},
      tiers{.clock = of.clock,
            .budget = of.storage.budget,
            .store = of.storage.store,
            .disk = of.storage.disk.get(),
            .placement = &of.storage.placement,
            .fills = of.storage.fills,
            .aside = std::move(of.aside)},
      cache(tiers),
      runs(of.storage.runs),
      upstream(of.tls, of.clock),
      password_checks(of.clock),
      crowd(of.clock, of.descriptors),
      observed(of.settings.log, of.threads, of.clock),
      pages{.tiers = tiers,
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
      given{
          .cache = {shared.cache, io.get_executor()},
          .sources = {.shared = {shared.instance.name, shared.pages.publisher, shared.site.fetches,
                                 shared.site.unshared_paths, shared.upstream},
                      .cache = given.cache,
                      .upstream = outgoing.upstream,
                      .guard = outgoing.guard,
                      .resolver = outgoing.resolver,
                      .executor = io.get_executor(),
                      .hedges = sources::Hedges(&observed.counters.hedges),
                      .probes = sources::Probes(digest::unpredictable()())},
          .fetching = {given.sources, shared.runs, shared.pages.transit,
                       shared.upstream.range_refusals, observed.counters},
          .serving = {.fetching = given.fetching,
                      .policy = policy_,
                      .deadlines = deadlines,
                      .buffers = buffers,
                      .pipes = pipes,
                      .crowd = crowd,
                      .password_checks = shared.password_checks,
                      .observed = shared.observed}} {}

void Worker::follow(policy::PinnedPolicy policy) {
  // The old policy must live until `outgoing` refers to the new one.
  const auto before = std::exchange(policy_, pinned_apart(std::move(policy)));
  outgoing.follow(policy_->settings, policy_->lists);
  given.sources.has_neighbours = !policy_->directory->peers().empty();
}

std::size_t thread_count(const config::Settings& settings) {
  if (settings.process.threads > 0) return settings.process.threads;
  return std::max(1U, std::thread::hardware_concurrency());
}

WorkerThreads::WorkerThreads(Shared& shared, Loop& aside, std::size_t count) : aside_(aside) {
  for (std::size_t i = 0; i < count; ++i) workers_.emplace_back(shared, i);
  shared.crowd.on_each_thread = [this](const auto& work) {
    // Rooms below know no worker.
    on_each([work](Worker& worker) { work(worker.crowd); });
  };
}

void WorkerThreads::follow(const policy::PinnedPolicy& policy) {
  on_each([policy](Worker& worker) { worker.follow(policy); });
}

void WorkerThreads::on_each(const std::function<void(Worker&)>& work) {
  for (auto& worker : workers_) {
    asio::post(worker.io, [&worker, work] { work(worker); });
  }
}

void WorkerThreads::start() {
  running_.emplace_back([this] {
    const auto until_stopped = asio::make_work_guard(aside_);
    aside_.run();
  });
  for (auto& worker : workers_) {
    worker.deadlines.start();
    worker.crowd.relief.start();
    running_.emplace_back([&worker] { worker.io.run(); });
  }
}

void WorkerThreads::stop(const WaitsFor& waits_for) {
  aside_.stop();
  for (auto& worker : workers_) worker.io.stop();  // all, before the first wait
  for (std::size_t i = 0; i < running_.size(); ++i) {
    waits_for(i == 0 ? kAside : name_of(i - 1));
    running_[i].join();
  }
  running_.clear();
}

void WorkerThreads::ask_for_name(const std::string& host) {
  on_each([host, asked = std::make_shared<std::atomic<bool>>()](Worker& worker) {
    // All threads share the answer, so one of them asks: the first that is not busy.
    if (!asked->exchange(true)) net::spawn(worker.io.get_executor(), ask_name(worker, host));
  });
}

std::string WorkerThreads::name_of(std::size_t worker) {
  return fmt::format("I/O thread {}", worker + 1);
}

void WorkerThreads::end_coroutines() {
  aside_.end_coroutines();
  for (auto& worker : workers_) worker.io.end_coroutines();
}

}  // namespace proxy::server
