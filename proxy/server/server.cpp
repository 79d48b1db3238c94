#include "proxy/server/server.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <utility>

#include "config/counted.hpp"
#include "proxy/observe/events.hpp"
#include "proxy/server/accept.hpp"
#include "proxy/server/start_report.hpp"

namespace proxy {

namespace asio = net::asio;

Server::Server(PinnedPolicy policy, const SettingsFile& file, Sockets sockets,
               const Surroundings& around)
    : file_(file),
      control_(sockets.control),
      supervisor_(around.supervisor),
      engine_(std::move(policy), {.listeners = sockets.listeners,
                                  .in_use = around.predecessor ? cache::DiskTier::InUse::rests
                                                               : cache::DiskTier::InUse::fails,
                                  .facts = around.facts,
                                  .memory = file.memory()}),
      reloading_(file, engine_, supervisor_),
      draining_(signals_, sockets, engine_),
      hand_over_(signals_.io, {sockets.listeners, control_}, around.launcher,
                 engine_.shared().successor, steps_of_hand_over()),
      take_over_(signals_.io, around.predecessor, engine_.workers().workers().front()),
      watchdog_(supervisor_, engine_.shared().observed.stuck, watched(),
                [this] { engine_.rescue(); }) {
  engine_.shared().instance.reload = [this] { return reload_on_order(); };
}

Server::~Server() {
  stop();
}

void Server::report_start(const std::string& limits) const {
  const StartFacts facts{file_.path(), control_.path(), limits};
  for (const auto& line : start_report(engine_.shared(), *engine_.policy(), facts)) {
    spdlog::info("{}", line);
  }
}

void Server::run() {
  heed_signals();
  start();
  signals_.io.run();
  if (hand_over_.is_done()) {
    watchdog_.leave();
    watchdog_.end_within(engine_.policy()->settings.timeouts.hand_over + Watchdog::kLongest);
    // What our predecessor has yet to forget, our successor learns from us.
    draining_.leave([this] { return take_over_.has_predecessor(); });
  } else {
    supervisor_.stopping();
  }
  draining_.drain();
  stop();
  spdlog::info("stopped");
  flush_events(engine_.shared().cache.clock.steady());
}

void Server::heed_signals() {
  watchdog_.begin();
  hand_over_.watch_launcher();
  Signals::on_each(signals_.rotating, [this] { engine_.log().reopen(); });
  Signals::on_each(signals_.reloading, [this] { reloading_.reload(); });
  Signals::on_each(signals_.succession, [this] {
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
    hand_over_.cancel();
    signals_.told_to_end = true;
    signals_.io.stop();
  });
}

void Server::start() {
  engine_.start();
  take_over_.begin();
  accept_at_control_socket();
  supervisor_.serving();
  watchdog_.begin_to_look();
}

void Server::accept_at_control_socket() {
  auto& first = engine_.workers().workers().front();
  if (auto acceptor = control_.acceptor(first.io.get_executor())) {
    net::spawn(first.io.get_executor(), accept_operators(first, std::move(acceptor)));
  }
}

net::Task<Reloaded> Server::reload_on_order() {
  auto work = [](Reloading& reloading) -> net::Task<Reloaded> { co_return reloading.reload(); };
  co_return co_await net::run_on(signals_.io.get_executor(), work(reloading_));
}

HandOver::Steps Server::steps_of_hand_over() {
  return {.release_disk = [this] { return engine_.release_disk(); },
          .take_disk_back = [this] { engine_.take_disk_back(); },
          .end =
              [this] {
                if (engine_.shared().instance.draining) return draining_.close_to_all();
                signals_.io.stop();
              }};
}

std::vector<Watchdog::Watched> Server::watched() {
  const auto has_turned = [this, seen = std::optional<std::uint64_t>()]() mutable {
    const auto now = engine_.turns_of_control();
    return !now || std::exchange(seen, now) != now;
  };
  auto& shared = engine_.shared();
  std::vector<Watchdog::Watched> all{
      {"the main thread", Watchdog::asking(signals_.io.get_executor()), true},
      {Engine::kControl, has_turned},
      {WorkerThreads::kAside, Watchdog::asking(shared.cache.aside), true}};
  for (auto& worker : engine_.workers().workers()) {
    all.push_back(
        {WorkerThreads::name_of(all.size() - 3), Watchdog::asking(worker.io.get_executor())});
  }
  return all;
}

void Server::stop() {
  engine_.stop([this](const std::string& thread) {
    if (thread.empty()) return watchdog_.let_it_end();
    watchdog_.end_within(Watchdog::kLongest, thread);
  });
  signals_.io.end_coroutines();  // an order to reload may wait there
  engine_.end_coroutines();
  watchdog_.end_within(Watchdog::kLongest, "the access log");
  engine_.log().end();
}

}  // namespace proxy
