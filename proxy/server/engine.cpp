#include "proxy/server/engine.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <iostream>

#include "proxy/server/accept.hpp"
#include "proxy/server/process_limits.hpp"

namespace proxy {

namespace asio = net::asio;

namespace {

std::string name_for(const config::Settings& settings, const Listeners& listeners) {
  if (!settings.name.empty()) return settings.name;
  std::array<char, 256> hostname{};
  ::gethostname(hostname.data(), hostname.size() - 1);
  return config::default_name(hostname.data(), listeners.addresses().front().port());
}

// Ends the process while a thread waits for the disk: such a thread cannot be ended, nor its
// objects destroyed.
[[noreturn]] void end_without_disk(AccessLog& log) {
  spdlog::error(
      "cache.disk.path: the disk does not answer; ended without it: what was stored last is lost, "
      "what was purged last may be back at the next start; see the kernel's messages on the disk");
  log.end();
  std::cout.flush();
  std::_Exit(0);
}

BandwidthLimits bandwidth_limits(const config::Limits& limits) {
  constexpr config::ByteSize kNone{0};
  return {.all = limits.bandwidth.value_or(kNone).value,
          .per_client = limits.bandwidth_per_client.value_or(kNone).value};
}

}  // namespace

Engine::Engine(PinnedPolicy policy, const Inputs& inputs)
    : policy_(std::move(policy)),
      listeners_(inputs.listeners),
      storage_(policy_->settings, inputs.in_use),
      neighbourhood_(storage_, policy_->settings.digest, clock_, [this] { pulse_.hurry(); }),
      metrics_(listeners_.threads()),
      log_(policy_->settings.log, listeners_.threads()),
      cache_{.clock = clock_,
             .budget = storage_.budget,
             .store = storage_.store,
             .disk = storage_.disk.get(),
             .placement = &storage_.placement,
             .fills = storage_.fills,
             .successor = successor_,
             .aside = aside_.get_executor()},
      process_{.name = name_for(policy_->settings, listeners_),
               .listening = listeners_.addresses(),
               .clock = clock_,
               .cache = cache_,
               .transit = storage_.transit,
               .disk_watch = &storage_.watch,
               .fills = storage_.fills,
               .runs = storage_.runs,
               .publisher = neighbourhood_.publisher(),
               .metrics = metrics_,
               .log = log_,
               .tls = tls_,
               .aside = aside_.get_executor(),
               .facts = &inputs.facts,
               .memory_limit = inputs.memory,
               .descriptors = descriptor_limits_of(policy_->settings),
               .successor = successor_},
      workers_(process_, aside_, listeners_.threads()) {}

Engine::~Engine() {
  stop();
  end_coroutines();
}

void Engine::start() {
  follow(policy_);
  accept_clients_everywhere();
  net::spawn(process_.aside, pulse_.run());
  giving_way_.start();
  workers_.start();
}

void Engine::accept_clients_everywhere() {
  std::size_t number = 0;
  for (auto& worker : workers_.workers()) {
    for (auto& acceptor : listeners_.acceptors(number++, worker.io.get_executor())) {
      worker.acceptors.push_back(std::make_unique<net::Acceptor>(std::move(acceptor)));
      net::spawn(worker.io.get_executor(), accept_clients(worker, *worker.acceptors.back()));
    }
  }
}

void Engine::follow(PinnedPolicy policy) {
  process_.bandwidth.follow(bandwidth_limits(policy->settings.limits));
  storage_.keepers.follow(policy->directory, neighbourhood_.publisher());
  workers_.follow(policy);
  pulse_.follow(policy);
  neighbourhood_.follow(*policy, process_.held_polls, process_.name_health);
  follow_sizes(policy);
  policy_ = std::move(policy);
}

void Engine::follow_sizes(const PinnedPolicy& policy) {
  const auto& cache = policy->settings.cache;
  process_.cache.max_object = cache.max_object ? cache.max_object->value : UINT64_MAX;
  if (cache == policy_->settings.cache) return;
  asio::post(aside_, [this, policy] {
    giving_way_.begin_anew();
    storage_.follow(policy->settings);
  });
}

bool Engine::release_disk() {
  return !storage_.disk || storage_.disk->release();
}

void Engine::take_disk_back() {
  if (!storage_.disk) return;
  open_disk(*storage_.disk, policy_->settings.cache.disk->path, cache::DiskTier::InUse::rests);
}

void Engine::serve_no_more() {
  neighbourhood_.stop();
  asio::post(aside_, [this] {
    giving_way_.begin_anew();
    storage_.give_up_memory();
  });
}

void Engine::stop(const WorkerThreads::WaitsFor& waits_for) {
  waits_for(kControl);
  neighbourhood_.stop();
  workers_.stop(waits_for);
  waits_for({});
  // The disk notifies coroutines of reads and writes, so the disk stops while they still exist.
  if (storage_.disk && storage_.disk->stop() == cache::DiskTier::Stopped::hangs)
    end_without_disk(log_);
  successor_.disown();  // coroutines wait for its answers, too
}

void Engine::rescue() {
  if (storage_.disk) storage_.disk->release();
  log_.end();
  std::cout.flush();
}

void Engine::end_coroutines() {
  workers_.end_coroutines();
  storage_.fills.clear();  // fills and runs refer to the workers' loops
  storage_.runs.clear();
}

}  // namespace proxy
