#include "proxy/server/accept.hpp"

#include <boost/asio/detached.hpp>

#include "proxy/server/session.hpp"

namespace proxy {

using net::Task;
namespace asio = net::asio;

namespace {

using Guest = std::optional<ClientTable::Guest>;
using Place = Newcomer::Place;

constexpr std::chrono::milliseconds kOutOfDescriptors{100};
// How often, and how many times, a newcomer looks whether there is room.
constexpr std::chrono::milliseconds kBetweenTries{4};
constexpr int kMostTries = 10;
constexpr std::size_t kMostNewcomers = 256;  // that wait at once, per worker

struct Terms {
  ConnectionLimits limits;
  bool may_wait = true;  // descriptors are not scarce
};

Terms terms_for(Worker& worker, net::Socket& socket) {
  auto& process = worker.process;
  const auto& settings = worker.policy()->settings.limits;
  Terms terms{{std::min(settings.connections, process.descriptors.connections),
               settings.most_connections_per_client()}};
  const auto descriptor = static_cast<std::size_t>(socket.native_handle());
  if (descriptor < process.descriptors.scarce_from) return terms;
  worker.doorkeeper.free_descriptors();
  terms.limits.all = std::min(terms.limits.all, process.clients.ordinary());
  terms.may_wait = false;
  return terms;
}

bool watches_over_us(const Worker& worker, const config::Address& address) {
  const auto& policy = *worker.policy();
  const auto& access = policy.settings.access;
  for (const auto* list : {&access.monitor, &access.admin, &access.peers}) {
    if (config::contains(*list, address)) return true;
  }
  return policy.directory->knows(address);
}

Task<void> wait_a_little(Worker& worker) {
  net::Timer timer(worker.io.get_executor(), kBetweenTries);
  co_await timer.async_wait(net::as_result);
}

Newcomer newcomer_from(Worker& worker, const config::Address& address,
                       const ConnectionLimits& limits) {
  auto& clients = worker.process.clients;
  const auto connections = clients.connections_of(address);
  const bool few = connections < limits.per_client && clients.has_few(address, limits);
  const auto place = few ? Place::others : Place::own;
  return {counted_as(address), connections, place};
}

// Waits a while for connections to end that may be closed for this one.
Task<Guest> await_room(Worker& worker, const config::Address& address,
                       const ConnectionLimits& limits) {
  for (int looks = 0; looks < kMostTries; ++looks) {
    worker.doorkeeper.make_room(newcomer_from(worker, address, limits));
    co_await wait_a_little(worker);
    auto guest = worker.process.clients.enter(address, limits);
    if (guest) co_return guest;
  }
  co_return std::nullopt;
}

Task<Guest> await_reserve(Worker& worker, const config::Address& address,
                          const ConnectionLimits& limits) {
  for (int looks = 0; looks < kMostTries; ++looks) {
    auto guest = worker.process.clients.enter_reserve(address, limits);
    if (guest) co_return guest;
    worker.doorkeeper.make_room({.client = counted_as(address), .place = Place::reserve});
    co_await wait_a_little(worker);
  }
  co_return std::nullopt;
}

// Enters at once, or not.
Guest try_to_enter(Worker& worker, const config::Address& address, const ConnectionLimits& limits) {
  auto& clients = worker.process.clients;
  auto guest = clients.enter(address, limits);
  if (guest && clients.ordinary() > limits.all)
    worker.doorkeeper.make_room(newcomer_from(worker, address, limits));
  return guest;
}

Task<Guest> let_in(Worker& worker, const config::Address& address, const Terms& terms) {
  auto guest = try_to_enter(worker, address, terms.limits);
  if (guest) co_return guest;
  worker.process.warnings.warn(Shortage::connections);
  if (worker.doorkeeper.newcomers >= kMostNewcomers) co_return std::nullopt;
  ++worker.doorkeeper.newcomers;
  if (terms.may_wait) guest = co_await await_room(worker, address, terms.limits);
  if (!guest && watches_over_us(worker, address))
    guest = co_await await_reserve(worker, address, terms.limits);
  --worker.doorkeeper.newcomers;
  co_return guest;
}

Task<void> serve_client(Worker& worker, net::Socket socket) {
  net::error_code gone;
  const auto remote = socket.remote_endpoint(gone);
  if (gone) co_return;
  const auto terms = terms_for(worker, socket);
  auto guest = co_await let_in(worker, upstream::plain_address(remote.address()), terms);
  if (guest) {
    co_await run_session(worker, std::move(socket), remote, *guest);
  } else {
    worker.counters.rejected.add();
  }
}

}  // namespace

Task<void> accept_clients(Worker& worker, net::Acceptor& acceptor) {
  while (!worker.process.draining) {
    net::Socket socket(worker.io.get_executor());
    const auto [error] = co_await acceptor.async_accept(socket, net::as_result);
    if (!error) {
      worker.counters.accepted.add();
      asio::co_spawn(worker.io.get_executor(), serve_client(worker, std::move(socket)),
                     asio::detached);
    } else if (error == asio::error::operation_aborted || worker.process.draining) {
      co_return;
    } else {
      // Usually the process is out of descriptors. Connections that end return theirs.
      if (error == asio::error::no_descriptors) worker.doorkeeper.free_descriptors();
      net::Timer timer(worker.io.get_executor(), kOutOfDescriptors);
      co_await timer.async_wait(net::as_result);
    }
  }
}

}  // namespace proxy
