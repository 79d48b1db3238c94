#include "proxy/server/draining.hpp"

#include <spdlog/spdlog.h>

#include <chrono>
#include <latch>

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

void Draining::leave() {
  auto& process = engine_.process();
  process.leaving = true;
  close_to_all();
  process.held_polls.wake_all();
  process.watchers.wake_all();
  await_end_of_connections();
}

// The acceptors stay open, unless somebody else has the sockets, too: a load balancer is to see
// that /health says so until the end. At systemd's sockets new connections wait for the next
// process.
void Draining::drain() {
  auto& process = engine_.process();
  process.draining = true;
  if (!sockets_.listeners.are_of_settings()) close_acceptors();
  engine_.workers().on_each([](Worker& worker) { worker.sessions.drain(); });
  process.held_polls.wake_all();
  process.watchers.wake_all();
}

// Polls the count of connections: this thread has little else to do, and the end of a connection
// then costs a serving thread one atomic subtraction.
void Draining::await_end_of_connections() {
  const auto& process = engine_.process();
  const auto until = std::chrono::steady_clock::now() + engine_.policy()->settings.timeouts.drain;
  const auto open = [&process] { return process.clients.connections() > process.late_connections; };
  while (open() && std::chrono::steady_clock::now() < until) {
    io_.restart();
    io_.run_for(std::chrono::milliseconds(10));
  }
  if (open()) {
    spdlog::warn(
        "stopping: {} connections did not end in time, and are cut; a longer timeouts.drain would "
        "wait for them",
        process.clients.connections() - process.late_connections);
  }
}

}  // namespace proxy
