#include "proxy/server/server.hpp"

#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/asio/detached.hpp>
#include <cstdlib>
#include <iostream>
#include <latch>
#include <system_error>

#include "proxy/observe/events.hpp"
#include "proxy/server/accept.hpp"
#include "proxy/server/start_report.hpp"
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

Server::Server(PinnedPolicy policy, const SettingsFile& file, Sockets sockets,
               const Surroundings& around)
    : file_(file),
      policy_(std::move(policy)),
      listeners_(sockets.listeners),
      control_(sockets.control),
      storage_(policy_->settings,
               around.predecessor ? cache::DiskTier::InUse::rests : cache::DiskTier::InUse::fails),
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
               .fills = storage_.fills,
               .runs = storage_.runs,
               .publisher = neighbourhood_.publisher,
               .metrics = metrics_,
               .log = log_,
               .tls = tls_,
               .aside = aside_.get_executor(),
               .facts = &around.facts,
               .memory_limit = file_.memory(),
               .reload = [this] { return reload_on_order(); },
               .descriptors = descriptor_limits_of(policy_->settings)},
      workers_(process_, aside_, listeners_.threads()),
      hand_over_(signals_.io, {listeners_, control_}, around.launcher, process_.successor,
                 steps_of_hand_over()),
      take_over_(signals_.io, around.predecessor, workers_.workers().front()),
      supervisor_(around.supervisor),
      watchdog_(signals_.io, supervisor_, workers_) {}

Server::~Server() {
  stop();
}

namespace {

BandwidthLimits bandwidth_limits(const config::Limits& limits) {
  constexpr config::ByteSize kNone{0};
  return {.all = limits.bandwidth.value_or(kNone).value,
          .per_client = limits.bandwidth_per_client.value_or(kNone).value};
}

}  // namespace

void Server::follow(PinnedPolicy policy) {
  process_.bandwidth.follow(bandwidth_limits(policy->settings.limits));
  storage_.keepers.follow(policy->directory, neighbourhood_.publisher);
  workers_.follow(policy);
  pulse_.follow(policy);
  follow_exchange(*policy);
  follow_sizes(policy);
  policy_ = std::move(policy);
}

// The control thread rests meanwhile.
void Server::follow_exchange(const Policy& policy) {
  auto& exchange = neighbourhood_.exchange;
  const auto& settings = policy.settings.digest;
  const bool goes_on =
      exchange && policy.directory == policy_->directory && settings == neighbourhood_.settings;
  if (goes_on) return;
  exchange.reset();
  neighbourhood_.settings = settings;
  neighbourhood_.publisher.follow(settings, clock_.now());
  process_.held_polls.wake_all();
  exchange.emplace(
      *policy.directory, settings, std::string(kProduct),
      [this, neighbours = policy.directory](peers::WallTime now) { tick(now, *neighbours); },
      peers::PollLimits{}, &storage_.newly_claimed);
}

void Server::follow_sizes(const PinnedPolicy& policy) {
  const auto& cache = policy->settings.cache;
  process_.max_object = cache.max_object ? cache.max_object->value : UINT64_MAX;
  if (cache == policy_->settings.cache) return;
  net::asio::post(aside_, [this, policy] { storage_.follow(policy->settings); });
}

// After a quiet period the first key that we may claim is told at once: the alarm is set while
// nothing changes. What is stored during a tick must not bring on the next one, or ticks would
// follow each other without a pause while much is stored.
void Server::tick(cache::Time now, const peers::PeerDirectory& neighbours) {
  const bool changed = neighbourhood_.publisher.tick(now);
  storage_.newly_claimed.set(!changed);
  if (changed) process_.held_polls.wake_all();
  storage_.watch.look();
  const auto steady_now = std::chrono::steady_clock::now();
  neighbourhood_.watch.look(neighbours.status(steady_now), steady_now);
  flush_events();
}

void Server::report_start(const std::string& limits) const {
  const StartFacts facts{file_.path(), control_.path(), limits};
  for (const auto& line : start_report(process_, *policy_, facts)) spdlog::info("{}", line);
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
  take_over_.begin();
  auto& first = workers_.workers().front();
  if (auto acceptor = control_.acceptor(first.io.get_executor())) {
    asio::co_spawn(first.io.get_executor(), accept_operators(first, std::move(acceptor)),
                   asio::detached);
  }
  supervisor_.serving();
  watchdog_.begin();
}

HandOver::Steps Server::steps_of_hand_over() {
  return {.release_disk = [this] { return !storage_.disk || storage_.disk->release(); },
          .take_disk_back =
              [this] {
                if (!storage_.disk) return;
                open_disk(*storage_.disk, policy_->settings.cache.disk->path,
                          cache::DiskTier::InUse::rests);
              },
          .end =
              [this] {
                if (process_.draining) return close_to_all();
                signals_.io.stop();
              }};
}

void Server::Signals::on_each(asio::signal_set& set, const std::function<void()>& handle) {
  set.async_wait([&set, handle](net::error_code error, int) {
    if (error) return;
    handle();
    on_each(set, handle);
  });
}

Reloaded Server::reload() {
  supervisor_.reloading();
  auto reloaded = follow_file();
  supervisor_.reloaded();
  return reloaded;
}

Reloaded Server::follow_file() {
  auto reread = file_.read_again(*policy_);
  auto errors = reread ? follow_log(reread->policy->settings.log) : reread.error();
  if (!errors.empty()) {
    for (const auto& error : errors) spdlog::error("{}: {}", error.where, error.what);
    spdlog::error("the settings were not reloaded: those in force stay, until {} is mended",
                  file_.path());
    return {file_.path(), std::move(errors), {}};
  }
  follow(std::move(reread->policy));
  if (!reread->waiting.empty()) {
    spdlog::warn("{} changed, which needs a restart", fmt::join(reread->waiting, ", "));
  }
  spdlog::info("the settings were reloaded from {}", file_.path());
  return {file_.path(), {}, std::move(reread->waiting)};
}

net::Task<Reloaded> Server::reload_on_order() {
  auto work = [](Server& server) -> net::Task<Reloaded> { co_return server.reload(); };
  co_return co_await asio::co_spawn(signals_.io.get_executor(), work(*this), net::use_task);
}

config::SettingsErrors Server::follow_log(const config::LogSettings& settings) {
  if (settings == policy_->settings.log) return {};
  try {
    log_.follow(AccessLog::Output(settings));
  } catch (const std::system_error& error) {
    const bool is_forbidden = error.code() == std::errc::permission_denied;
    const char* const why =
        is_forbidden ? " (the sandbox knows the folders of the start alone)" : "";
    return {{file_.path(), std::string(error.what()) + why}};
  }
  format_events(settings.events);
  return {};
}

void Server::run() {
  Signals::on_each(signals_.rotating, [this] { log_.reopen(); });
  Signals::on_each(signals_.reloading, [this] { reload(); });
  Signals::on_each(signals_.succession, [this] {
    if (!process_.draining) hand_over_.begin();
  });
  signals_.ending.async_wait([&](net::error_code, int signal) {
    spdlog::info("{}: draining: {} connections have {} s to end, new ones get 503",
                 signal == SIGINT ? "SIGINT" : "SIGTERM", process_.clients.connections(),
                 std::chrono::ceil<std::chrono::seconds>(policy_->settings.timeouts.drain).count());
    signals_.told_to_end = true;
    signals_.io.stop();
  });
  start();
  signals_.io.run();
  if (hand_over_.is_done()) {
    leave();
  } else {
    supervisor_.stopping();
  }
  drain();
  stop();
  spdlog::info("stopped");
  flush_events();
}

// A connection that was accepted just before has begun to count once the worker has run what was
// posted before, and what that has posted.
void Server::close_acceptors() {
  std::latch closed(static_cast<std::ptrdiff_t>(listeners_.threads()));
  workers_.on_each([&closed](Worker& worker) {
    net::error_code ignored;
    for (auto& acceptor : worker.acceptors) acceptor->close(ignored);
    asio::post(worker.io,
               [&worker, &closed] { asio::post(worker.io, [&closed] { closed.count_down(); }); });
  });
  closed.wait();
}

// The successor has the same sockets.
void Server::close_to_all() {
  control_.leave();
  close_acceptors();
}

// This process may live on for long, for the sake of a download. It keeps nothing that it does not
// need for that.
void Server::leave() {
  process_.leaving = true;
  watchdog_.end();
  close_to_all();
  process_.held_polls.wake_all();
  process_.watchers.wake_all();
  neighbourhood_.exchange.reset();
  asio::post(aside_, [this] { storage_.give_up_memory(); });
  // What our predecessor has yet to forget, our successor learns from us.
  const auto is_needed = [this] {
    return !signals_.told_to_end && (open_connections() > 0 || take_over_.has_predecessor());
  };
  signals_.run_while(is_needed, policy_->settings.timeouts.hand_over);
}

// The acceptors stay open, unless somebody else has the sockets, too: a load balancer is to see
// that /health says so until the end. At systemd's sockets new connections wait for the next
// process.
void Server::drain() {
  process_.draining = true;
  if (!listeners_.are_of_settings()) close_acceptors();
  workers_.on_each([](Worker& worker) { worker.sessions.drain(); });
  process_.held_polls.wake_all();
  process_.watchers.wake_all();
  signals_.run_while([this] { return open_connections() > 0; }, policy_->settings.timeouts.drain);
  if (const auto open = open_connections(); open > 0) {
    spdlog::warn("stopping: {} connections did not end in time, and are cut (timeouts.drain)",
                 open);
  }
}

std::size_t Server::open_connections() const {
  const std::size_t all = process_.clients.connections();
  return all - std::min<std::size_t>(all, process_.late_connections);
}

// Polls the condition: this thread has little else to do, and the end of a connection then costs a
// serving thread one atomic subtraction.
void Server::Signals::run_while(const std::function<bool()>& condition,
                                std::chrono::milliseconds longest) {
  const auto until = std::chrono::steady_clock::now() + longest;
  while (condition() && std::chrono::steady_clock::now() < until) {
    io.restart();
    io.run_for(std::chrono::milliseconds(10));
  }
}

void Server::stop() {
  neighbourhood_.exchange.reset();
  workers_.stop();
  // The disk notifies coroutines of reads and writes, so the disk stops while they still exist.
  if (storage_.disk && storage_.disk->stop() == cache::DiskTier::Stopped::hangs)
    end_without_disk(log_);
  process_.successor.disown();   // coroutines wait for its answers, too
  signals_.io.end_coroutines();  // an order to reload may wait there
  workers_.end_coroutines();
  storage_.fills.clear();  // fills and runs refer to the workers' timers
  storage_.runs.clear();
}

}  // namespace proxy
