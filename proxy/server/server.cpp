#include "proxy/server/server.hpp"

#include <spdlog/spdlog.h>

#include <fmt/ranges.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <latch>
#include <system_error>
#include <utility>

#include "config/counted.hpp"
#include "proxy/observe/events.hpp"
#include "proxy/server/accept.hpp"
#include "proxy/server/start_report.hpp"

namespace proxy::server {

namespace asio = net::asio;

namespace {

// Calls `handle` at each signal of the set.
void on_each(asio::signal_set& set, const std::function<void()>& handle) {
  set.async_wait([&set, handle](net::error_code error, int) {
    if (error) return;
    handle();
    on_each(set, handle);
  });
}

bool is_mapped(const std::vector<config::Reverse>& mappings, const upstream::Endpoint& origin) {
  return std::any_of(mappings.begin(), mappings.end(), [&](const config::Reverse& one) {
    return std::any_of(one.to.begin(), one.to.end(), [&](const config::Origin& to) {
      return to.tls == origin.tls && to.host == origin.host && to.port == origin.port;
    });
  });
}

}  // namespace

Server::Server(policy::PinnedPolicy policy, const SettingsFile& file, Sockets sockets,
               const Surroundings& around)
    : file_(file),
      sockets_(sockets),
      supervisor_(around.supervisor),
      engine_(std::move(policy),
              {.listeners = sockets.listeners,
               .in_use = around.predecessor ? Storage::InUse::rests : Storage::InUse::fails,
               .facts = around.facts,
               .memory = file.memory()}),
      hand_over_(signals_.io, sockets, around.launcher, engine_.shared().tiers.successor,
                 steps_of_hand_over()),
      take_over_(signals_.io, around.predecessor, engine_.workers().workers().front()),
      watchdog_(supervisor_, engine_.shared().observed.stuck, watched(),
                [this] { engine_.rescue(); }) {
  engine_.shared().instance.reload = [this] { return reload_on_order(); };
}

Server::~Server() {
  stop();
}

void Server::report_start(const std::string& limits) const {
  const StartFacts facts{file_.path(), sockets_.control.path(), limits};
  for (const auto& line : start_report(engine_.shared(), *engine_.policy(), facts)) {
    spdlog::info("{}", line);
  }
}

void Server::run() {
  handle_signals();
  start();
  signals_.io.run();
  if (hand_over_.is_done()) {
    // The successor is the service now, and says for itself that it lives.
    watchdog_.leave();
    watchdog_.end_within(engine_.policy()->settings.timeouts.hand_over + Watchdog::kLongest);
    leave();
  } else {
    supervisor_.stopping();
  }
  drain();
  stop();
  spdlog::info("stopped");
  observe::flush_events(engine_.shared().cache.clock.steady());
}

void Server::handle_signals() {
  watchdog_.begin();
  hand_over_.watch_launcher();
  on_each(signals_.rotating, [this] { engine_.shared().observed.log.reopen(); });
  on_each(signals_.reloading, [this] { reload(); });
  on_each(signals_.succession, [this] {
    if (!engine_.shared().instance.draining) hand_over_.begin();
  });
  signals_.ending.async_wait([this](net::error_code, int signal) {
    const auto drain = engine_.policy()->settings.timeouts.drain;
    spdlog::info("{}: draining: {} {} s to end, new ones get 503",
                 signal == SIGINT ? "SIGINT" : "SIGTERM",
                 config::counted(engine_.shared().crowd.clients.connections(), "connection has",
                                 "connections have"),
                 std::chrono::ceil<std::chrono::seconds>(drain).count());
    watchdog_.end_within(drain + Watchdog::kLongest);
    // A successor that took over now would outlive the order to end.
    hand_over_.cancel();
    signals_.told_to_end = true;
    signals_.io.stop();
  });
}

void Server::start() {
  engine_.start();
  take_over_.begin();
  auto& first = engine_.workers().workers().front();
  if (auto acceptor = sockets_.control.acceptor(first.io.get_executor())) {
    net::spawn(first.io.get_executor(), accept_operators(first, std::move(acceptor)));
  }
  supervisor_.serving();
  watchdog_.begin_to_look();
}

// Polls the condition: this thread has little else to do, and the end of a connection then costs a
// serving thread one atomic subtraction.
void Server::run_while(const std::function<bool()>& condition, std::chrono::milliseconds longest) {
  const auto& clock = engine_.shared().cache.clock;
  const auto until = clock.steady() + longest;
  while (condition() && clock.steady() < until) {
    signals_.io.restart();
    signals_.io.run_for(std::chrono::milliseconds(10));
  }
}

HandOver::Steps Server::steps_of_hand_over() {
  return {.release_disk = [this] { return engine_.release_disk(); },
          .take_disk_back = [this] { engine_.take_disk_back(); },
          .end =
              [this] {
                if (engine_.shared().instance.draining) return close_to_all();
                signals_.io.stop();
              }};
}

std::vector<Watchdog::Watched> Server::watched() {
  const auto has_turned = [this, seen = std::optional<std::uint64_t>()]() mutable {
    const auto now = engine_.neighbourhood().turns();
    return !now || std::exchange(seen, now) != now;
  };
  auto& shared = engine_.shared();
  std::vector<Watchdog::Watched> all{
      {"the main thread", Watchdog::asking(signals_.io.get_executor()), true},
      {Engine::kControl, has_turned},
      {WorkerThreads::kAside, Watchdog::asking(shared.tiers.aside), true}};
  for (auto& worker : engine_.workers().workers()) {
    all.push_back(
        {WorkerThreads::name_of(all.size() - 3), Watchdog::asking(worker.io.get_executor())});
  }
  return all;
}

pages::Reloaded Server::reload() {
  // A process that ends has given up what settings could change, and its successor follows them.
  const auto& shared = engine_.shared();
  if (shared.instance.leaving || shared.instance.draining) {
    return {file_.path(), {{file_.path(), "this process is ending, and reads no settings"}}, {}};
  }
  supervisor_.reloading(shared.cache.clock.steady());
  auto reloaded = apply_file();
  // Also after errors: the service manager waits for READY=1 (sd_notify(3)).
  supervisor_.reloaded();
  return reloaded;
}

net::Task<pages::Reloaded> Server::reload_on_order() {
  auto work = [](Server& server) -> net::Task<pages::Reloaded> { co_return server.reload(); };
  co_return co_await net::run_on(signals_.io.get_executor(), work(*this));
}

pages::Reloaded Server::apply_file() {
  auto reread = file_.read_again(*engine_.policy());
  // The log is opened before anything else follows: a failure must leave all as it was.
  auto errors = reread ? apply_log(reread->policy->settings.log) : reread.error();
  if (!errors.empty()) {
    // A log, a list or an included file may be new.
    const auto no_access = std::generic_category().message(EACCES);
    for (auto& [where, what] : errors) {
      if (what.ends_with(no_access)) what += " (the sandbox knows the folders of the start alone)";
      spdlog::error("{}: {}", where, what);
    }
    observe::answers().error(
        "the settings were not reloaded: those in force stay, until {} is mended", file_.path());
    record_faults(errors);
    return {file_.path(), std::move(errors), {}};
  }
  auto& fault = engine_.shared().observed.settings_fault;
  fault.mended();
  if (!engine_.read_certificates()) {
    constexpr const char* kNoCertificates =
        "the certificates to trust cannot be read any more, and those read before stay: "
        "look at SSL_CERT_FILE, and reload again";
    spdlog::warn(kNoCertificates);
    fault.found(kNoCertificates, engine_.shared().cache.clock.steady());
  }
  const bool maps_others =
      reread->policy->settings.gateway.reverse != engine_.policy()->settings.gateway.reverse;
  engine_.follow(std::move(reread->policy));
  if (maps_others) {
    const auto& mappings = engine_.policy()->settings.gateway.reverse;
    engine_.shared().upstream.health.forget_mapped(
        [&](const upstream::Endpoint& origin) { return is_mapped(mappings, origin); });
  }
  if (!reread->waiting.empty()) {
    spdlog::warn("{} changed, which needs a restart: restart the service to follow",
                 fmt::join(reread->waiting, ", "));
  }
  observe::answers().info("the settings were reloaded from {}", file_.path());
  return {file_.path(), {}, std::move(reread->waiting)};
}

void Server::record_faults(const config::SettingsErrors& errors) {
  const auto& first = errors.front();
  auto text = fmt::format("the settings were not reloaded, and those in force stay: {}: {}",
                          first.where, first.what);
  if (errors.size() > 1) text += fmt::format(" (and {} more)", errors.size() - 1);
  text += fmt::format("; mend {}, and reload again", file_.path());
  engine_.shared().observed.settings_fault.found(std::move(text),
                                                 engine_.shared().cache.clock.steady());
}

config::SettingsErrors Server::apply_log(const config::LogSettings& settings) {
  if (settings == engine_.policy()->settings.log) return {};
  try {
    engine_.shared().observed.log.follow(observe::AccessLog::Output(settings));
  } catch (const std::system_error& error) {
    const auto advice = observe::log_advice(error.code(), settings.path).text;
    return {{file_.path(), error.what() + (advice.empty() ? "" : "; " + advice)}};
  }
  observe::format_events(settings.events);
  return {};
}

// A connection that was accepted just before has begun to count once the worker has run what was
// posted before, and what that has posted.
void Server::close_acceptors() {
  std::latch closed(static_cast<std::ptrdiff_t>(engine_.workers().count()));
  engine_.workers().on_each([&closed](Worker& worker) {
    net::error_code ignored;
    for (auto& acceptor : worker.acceptors) acceptor->close(ignored);
    asio::post(worker.io,
               [&worker, &closed] { asio::post(worker.io, [&closed] { closed.count_down(); }); });
  });
  closed.wait();
}

void Server::close_to_all() {
  sockets_.control.leave();
  close_acceptors();
}

// This process may live on for long, for the sake of a download. It keeps nothing that it does not
// need for that.
void Server::leave() {
  auto& shared = engine_.shared();
  shared.instance.leaving = true;
  close_to_all();
  shared.visitors.held_polls.wake_all();
  shared.visitors.watchers.wake_all();
  engine_.serve_no_more();
  // What our predecessor has yet to forget, our successor learns from us.
  const auto is_needed = [this] {
    return !signals_.told_to_end && (open_connections() > 0 || take_over_.has_predecessor());
  };
  run_while(is_needed, engine_.policy()->settings.timeouts.hand_over);
}

// The acceptors stay open, unless somebody else has the sockets, too: a load balancer is to see
// that /health says so until the end. At systemd's sockets new connections wait for the next
// process.
void Server::drain() {
  auto& shared = engine_.shared();
  shared.instance.draining = true;
  if (!sockets_.listeners.are_of_settings()) close_acceptors();
  engine_.workers().on_each([](Worker& worker) { worker.crowd.sessions.drain(); });
  shared.visitors.held_polls.wake_all();
  shared.visitors.watchers.wake_all();
  const auto& timeouts = engine_.policy()->settings.timeouts;
  // A process that leaves has waited for its connections already, in leave().
  const bool has_waited = shared.instance.leaving && !signals_.told_to_end;
  if (!has_waited) run_while([this] { return open_connections() > 0; }, timeouts.drain);
  if (const auto open = open_connections(); open > 0) {
    spdlog::warn("stopping: {} cut, not having ended in time; a longer timeouts.{} would wait",
                 config::counted(open, "connection is", "connections are"),
                 has_waited ? "hand_over" : "drain");
  }
}

std::size_t Server::open_connections() const {
  const auto& shared = engine_.shared();
  // Late connections come until the end, as a load balancer keeps asking. Nobody waits for them.
  const std::size_t all = shared.crowd.clients.connections();
  // The two numbers are read one after the other, and their difference must not wrap.
  return all - std::min<std::size_t>(all, shared.instance.late_connections);
}

void Server::stop() {
  engine_.stop([this](const std::string& thread) {
    if (thread.empty()) return watchdog_.let_it_end();
    watchdog_.end_within(Watchdog::kLongest, thread);
  });
  signals_.io.end_coroutines();  // an order to reload may wait there
  engine_.end_coroutines();
  // Its reader may be a pipe that nobody empties.
  watchdog_.end_within(Watchdog::kLongest, "the access log");
  engine_.shared().observed.log.end();
}

}  // namespace proxy::server
