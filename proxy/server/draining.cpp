#include "proxy/server/draining.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <latch>

#include "config/counted.hpp"

namespace proxy {

namespace asio = net::asio;

// A connection that was accepted just before has begun to count once the worker has run what was
// posted before, and what that has posted.
void Draining::close_acceptors() {
  std::latch closed(static_cast<std::ptrdiff_t>(engine_.workers().count()));
  engine_.workers().on_each([&closed](Worker& worker) {
    net::error_code ignored;
    for (auto& acceptor : worker.acceptors) acceptor->close(ignored);
    asio::post(worker.io,
               [&worker, &closed] { asio::post(worker.io, [&closed] { closed.count_down(); }); });
  });
  closed.wait();
}

void Draining::close_to_all() {
  sockets_.control.leave();
  close_acceptors();
}

// This process may live on for long, for the sake of a download. It keeps nothing that it does not
// need for that.
void Draining::leave(const std::function<bool()>& is_needed) {
  auto& shared = engine_.shared();
  shared.instance.leaving = true;
  close_to_all();
  shared.visitors.held_polls.wake_all();
  shared.visitors.watchers.wake_all();
  engine_.serve_no_more();
  signals_.run_while(
      [&] { return !signals_.told_to_end && (open_connections() > 0 || is_needed()); },
      engine_.policy()->settings.timeouts.hand_over);
}

// The acceptors stay open, unless somebody else has the sockets, too: a load balancer is to see
// that /health says so until the end. At systemd's sockets new connections wait for the next
// process.
void Draining::drain() {
  auto& shared = engine_.shared();
  shared.instance.draining = true;
  if (!sockets_.listeners.are_of_settings()) close_acceptors();
  engine_.workers().on_each([](Worker& worker) { worker.crowd.sessions.drain(); });
  shared.visitors.held_polls.wake_all();
  shared.visitors.watchers.wake_all();
  const auto& timeouts = engine_.policy()->settings.timeouts;
  const bool has_waited = shared.instance.leaving && !signals_.told_to_end;
  if (!has_waited) signals_.run_while([this] { return open_connections() > 0; }, timeouts.drain);
  if (const auto open = open_connections(); open > 0) {
    spdlog::warn("stopping: {} cut, not having ended in time; a longer timeouts.{} would wait",
                 config::counted(open, "connection is", "connections are"),
                 has_waited ? "hand_over" : "drain");
  }
}

std::size_t Draining::open_connections() const {
  const auto& shared = engine_.shared();
  const std::size_t all = shared.crowd.clients.connections();
  return all - std::min<std::size_t>(all, shared.instance.late_connections);
}

}  // namespace proxy
