#include "proxy/server/server.hpp"

#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/ranges.h>

#include <array>
#include <boost/asio/detached.hpp>
#include <cstdlib>
#include <iostream>

#include "proxy/server/accept.hpp"
#include "proxy/version.hpp"

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
      "what was purged last may be back at the next start");
  log.end();
  std::cout.flush();
  std::_Exit(0);
}

DescriptorLimits descriptor_limits_of(const config::Settings& settings) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = RLIM_INFINITY;
  const auto& disk = settings.cache.disk;
  const auto limits =
      descriptor_limits(limit.rlim_cur, disk ? cache::segments_of(disk->size.value) : 0);
  if (limits.connections < settings.limits.connections) {
    spdlog::warn(
        "{} file descriptors are allowed here, which is enough for {} client connections; "
        "limits.connections is {} (ulimit -n, or LimitNOFILE of the service, allows more)",
        limit.rlim_cur, limits.connections, settings.limits.connections);
  }
  return limits;
}

}  // namespace

Server::Neighbourhood::Neighbourhood(cache::Store& store, const config::DigestSettings& told,
                                     cache::Time now)
    : settings(told), holdings(store), publisher(holdings, settings, now) {}

Server::Server(PinnedPolicy policy, const SettingsFile& file, Listeners& listeners)
    : file_(file),
      policy_(std::move(policy)),
      listeners_(listeners),
      storage_(policy_->settings),
      neighbourhood_(storage_.store, policy_->settings.digest, clock_.now()),
      metrics_(listeners_.threads()),
      log_(policy_->settings.log, listeners_.threads()),
      process_{.name = name_for(policy_->settings, listeners_),
               .listening = listeners_.addresses(),
               .clock = clock_,
               .budget = storage_.budget,
               .transit = storage_.transit,
               .store = storage_.store,
               .disk = storage_.disk.get(),
               .placement = &storage_.placement,
               .max_object = policy_->settings.cache.max_object,
               .fills = storage_.fills,
               .runs = storage_.runs,
               .publisher = neighbourhood_.publisher,
               .metrics = metrics_,
               .log = log_,
               .tls = tls_,
               .aside = aside_.get_executor(),
               .descriptors = descriptor_limits_of(policy_->settings)},
      workers_(process_, aside_, listeners_.threads()) {}

Server::~Server() {
  stop();
}

void Server::follow(PinnedPolicy policy) {
  storage_.keepers.follow(policy->directory, neighbourhood_.publisher);
  workers_.follow(policy);
  pulse_.follow(policy);
  auto& exchange = neighbourhood_.exchange;
  if (!exchange || policy->directory != policy_->directory) {
    exchange.reset();
    exchange.emplace(
        *policy->directory, neighbourhood_.settings, std::string(kProduct),
        [this](peers::WallTime now) { tick(now); }, peers::PollLimits{}, &storage_.newly_claimed);
  }
  policy_ = std::move(policy);
}

// After a quiet period the first key that we may claim is told at once: the alarm is set while
// nothing changes. What is stored during a tick must not bring on the next one, or ticks would
// follow each other without a pause while much is stored.
void Server::tick(cache::Time now) {
  const bool changed = neighbourhood_.publisher.tick(now);
  storage_.newly_claimed.set(!changed);
  if (changed) process_.held_polls.wake_all();
  storage_.watch.look();
}

void Server::start() {
  follow(policy_);
  std::size_t number = 0;
  for (auto& worker : workers_.workers()) {
    for (auto& acceptor : listeners_.acceptors(number++, worker.io.get_executor())) {
      worker.acceptors.push_back(std::make_unique<net::Acceptor>(std::move(acceptor)));
      asio::co_spawn(worker.io.get_executor(), accept_clients(worker, *worker.acceptors.back()),
                     asio::detached);
    }
  }
  asio::co_spawn(process_.aside, pulse_.run(), asio::detached);
  workers_.start();
}

void Server::Signals::on_each(asio::signal_set& set, const std::function<void()>& handle) {
  set.async_wait([&set, handle](net::error_code error, int) {
    if (error) return;
    handle();
    on_each(set, handle);
  });
}

void Server::reload() {
  auto reread = file_.read_again(*policy_);
  if (!reread) {
    for (const auto& error : reread.error()) spdlog::error("{}: {}", error.where, error.what);
    spdlog::error("the settings were not reloaded: those in force stay, until {} is mended",
                  file_.path());
    return;
  }
  follow(std::move(reread->policy));
  if (!reread->waiting.empty()) {
    spdlog::warn("{} changed, which needs a restart", fmt::join(reread->waiting, ", "));
  }
  spdlog::info("the settings were reloaded from {}", file_.path());
}

void Server::run() {
  Signals::on_each(signals_.rotating, [this] { log_.reopen(); });
  Signals::on_each(signals_.reloading, [this] { reload(); });
  signals_.ending.async_wait([&](net::error_code, int) { signals_.io.stop(); });
  start();
  signals_.io.run();
  drain();
  stop();
}

void Server::drain() {
  process_.draining = true;
  workers_.on_each([](Worker& worker) {
    net::error_code ignored;
    for (auto& acceptor : worker.acceptors) acceptor->close(ignored);
    worker.sessions.drain();
  });
  process_.held_polls.wake_all();
  process_.watchers.wake_all();
  // Polls the count of connections: this thread has nothing else to do, and the end of a connection
  // then costs a serving thread one atomic subtraction.
  const auto until = std::chrono::steady_clock::now() + policy_->settings.timeouts.drain;
  while (process_.clients.connections() > 0 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void Server::stop() {
  neighbourhood_.exchange.reset();
  workers_.stop();
  // The disk notifies coroutines of reads and writes, so the disk stops while they still exist.
  if (storage_.disk && storage_.disk->stop() == cache::DiskTier::Stopped::hangs)
    end_without_disk(log_);
  workers_.end_coroutines();
  storage_.fills.clear();  // fills and runs refer to the workers' timers
  storage_.runs.clear();
}

}  // namespace proxy
