#include "proxy/server/engine.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/ip/host_name.hpp>
#include <cstdlib>
#include <iostream>

#include "proxy/server/accept.hpp"
#include "proxy/server/start_report.hpp"

namespace proxy::server {

namespace asio = net::asio;

namespace {

std::string name_for(const config::Settings& settings, const Listeners& listeners) {
  if (!settings.process.name.empty()) return settings.process.name;
  net::error_code unknown;
  return config::default_name(asio::ip::host_name(unknown), listeners.addresses().front().port());
}

// Ends the process while a thread waits for the disk: such a thread cannot be ended, nor its
// objects destroyed.
[[noreturn]] void end_without_disk(observe::AccessLog& log) {
  spdlog::error(
      "cache.disk.path: the disk does not answer; ended without it: what was stored last is lost, "
      "what was purged last may be back at the next start; see the kernel's messages on the disk");
  log.end();
  std::cout.flush();
  std::_Exit(0);
}

crowd::BandwidthLimits bandwidth_limits(const config::Limits& limits) {
  constexpr config::ByteSize kNone{0};
  return {.all = limits.bandwidth.value_or(kNone).value,
          .per_client = limits.bandwidth_per_client.value_or(kNone).value};
}

}  // namespace

Engine::Engine(policy::PinnedPolicy policy, const Inputs& inputs)
    : policy_(std::move(policy)),
      listeners_(inputs.listeners),
      storage_(policy_->settings, clock_, inputs.in_use),
      neighbourhood_(storage_, policy_->settings.digest, clock_, [this] { pulse_.hurry(); }),
      shared_({.name = name_for(policy_->settings, listeners_),
               .listening = listeners_.addresses(),
               .settings = policy_->settings,
               .threads = listeners_.threads(),
               .storage = storage_,
               .clock = clock_,
               .publisher = neighbourhood_.publisher(),
               .tls = tls_,
               .aside = aside_.get_executor(),
               .descriptors = descriptor_limits_of(policy_->settings),
               .facts = &inputs.facts,
               .memory_limit = inputs.memory}),
      workers_(shared_, aside_, listeners_.threads()),
      pulse_(shared_.pages, [this](const std::string& host) { workers_.ask_for_name(host); }) {}

Engine::~Engine() {
  stop();
  end_coroutines();
}

void Engine::start() {
  follow(policy_);  // the workers wait for it: it is the first work of their loops
  accept_clients_everywhere();
  net::spawn(shared_.tiers.aside, pulse_.run());
  giving_way_.start();
  // Last, when everything that a request may touch is there.
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

void Engine::follow(policy::PinnedPolicy policy) {
  tls_.follow(policy->trust);
  shared_.crowd.bandwidth.follow(bandwidth_limits(policy->settings.limits));
  storage_.keepers.apply(policy->directory, neighbourhood_.publisher());
  workers_.follow(policy);
  pulse_.follow(policy);
  neighbourhood_.follow(*policy, shared_.visitors.held_polls, shared_.upstream.names);
  // Before policy_ changes, with whose sizes it compares the new ones.
  follow_sizes(policy);
  policy_ = std::move(policy);
}

void Engine::follow_sizes(const policy::PinnedPolicy& policy) {
  const auto& cache = policy->settings.cache;
  shared_.tiers.max_object = cache.max_object ? cache.max_object->value : UINT64_MAX;
  // The same sizes again would undo what giving_way_ has given up.
  if (cache == policy_->settings.cache) return;
  asio::post(aside_, [this, policy] {
    giving_way_.begin_anew();
    storage_.apply(policy->settings);
  });
}

void Engine::serve_no_more() {
  // Who leaves publishes nothing: the successor does, at the same address.
  neighbourhood_.stop();
  asio::post(aside_, [this] {
    giving_way_.begin_anew();
    storage_.give_up_memory();
  });
}

void Engine::stop(const WorkerThreads::WaitsFor& waits_for) {
  // First, since the control thread calls into what ends below.
  waits_for(kControl);
  neighbourhood_.stop();
  workers_.stop(waits_for);
  waits_for({});
  // The disk notifies coroutines of reads and writes, so the disk stops while they still exist.
  if (!storage_.stop_disk()) end_without_disk(shared_.observed.log);
  shared_.tiers.successor.disown();  // coroutines wait for its answers, too
}

void Engine::rescue() {
  storage_.release_disk();
  shared_.observed.log.end();
  std::cout.flush();
}

void Engine::end_coroutines() {
  workers_.end_coroutines();
  storage_.fills.clear();  // fills and runs refer to the workers' loops
  storage_.runs.clear();
}

}  // namespace proxy::server
