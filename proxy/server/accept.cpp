#include "proxy/server/accept.hpp"

#include <sys/socket.h>

#include <array>

namespace proxy::server {

using net::Task;
namespace asio = net::asio;

namespace {

using Guest = std::optional<crowd::ClientTable::Guest>;
using Shortage = crowd::Newcomer::Shortage;

constexpr std::chrono::milliseconds kOutOfDescriptors{100};
// How long a newcomer waits for room.
constexpr std::chrono::milliseconds kLongestWait{100};
// How soon it looks again at first if nothing wakes it: the doorkeeper searches no more often.
constexpr std::chrono::milliseconds kBetweenLooks{4};
// How many wait at once while descriptors are scarce.
constexpr std::size_t kFewNewcomers = 8;
// Operators come by the reserve of a table of their own: one request each, and no client's
// connection is closed for them, nor theirs for a client.
constexpr crowd::ConnectionLimits kOfOperators{.all = 256, .per_client = 256};

struct Room {
  crowd::ConnectionLimits limits;
  bool may_wait = true;  // descriptors are not scarce
  bool watches = false;  // over this proxy: may enter the reserve
};

Room room_for(Worker& worker, net::Socket& socket) {
  auto& shared = worker.shared;
  Room room{crowd::connection_limits(worker.policy()->settings.limits,
                                     shared.crowd.descriptors.connections)};
  const auto descriptor = static_cast<std::size_t>(socket.native_handle());
  if (descriptor < shared.crowd.descriptors.scarce_from) return room;
  // Already now: once none is left, a connection cannot even be accepted to be refused.
  worker.crowd.doorkeeper.free_descriptors(worker.shared.cache.clock.steady());
  room.limits.all = std::min(room.limits.all, shared.crowd.clients.ordinary());
  room.may_wait = false;
  return room;
}

// Crowds of others do not take the places of those who do, so they can reach the reserve.
bool watches_over_us(const Worker& worker, const config::Address& address) {
  const auto caller = policy::caller_of(*worker.policy(), address);
  return caller.is_monitor || caller.is_admin() || caller.is_neighbour();
}

crowd::Newcomer newcomer_from(Worker& worker, const config::Address& address,
                              const crowd::ConnectionLimits& limits) {
  auto& clients = worker.shared.crowd.clients;
  const auto connections = clients.connections_of(address);
  const bool few = connections < limits.per_client && clients.has_few(address, limits);
  auto shortage = few ? Shortage::others : Shortage::own;
  if (few && !clients.network_has_room(address, limits)) shortage = Shortage::network;
  return {crowd::counted_as(address), connections, shortage};
}

// Enters at once, or not.
Guest try_to_enter(Worker& worker, const config::Address& address,
                   const crowd::ConnectionLimits& limits) {
  auto& clients = worker.shared.crowd.clients;
  auto guest = clients.enter(address, limits);
  if (guest && clients.ordinary() > limits.all)
    worker.crowd.doorkeeper.make_room(newcomer_from(worker, address, limits),
                                      worker.shared.cache.clock.steady());
  return guest;
}

// Whether the client has sent a whole head, so that its connection will not wait in the reserve.
bool has_asked(net::Socket& socket) {
  std::array<char, 4096> bytes;
  // Without taking the bytes: the session reads them.
  const auto n =
      ::recv(socket.native_handle(), bytes.data(), bytes.size(), MSG_PEEK | MSG_DONTWAIT);
  if (n <= 0) return false;
  return http::find_head_end({bytes.data(), static_cast<std::size_t>(n)}, 0) !=
         std::string_view::npos;
}

// Waits a while for connections to end that may be closed for this one, or for a request for which
// the reserve is. The end of a connection wakes the newcomer. It also looks by itself, ever more
// seldom, because the doorkeeper does not search for each newcomer, nor always finds something. A
// request does not wake it: whoever is let in to the reserve gets our own pages alone, so a search
// comes first.
Task<Guest> await_room(Worker& worker, net::Socket& socket, const config::Address& address,
                       const Room& room, net::Wakeup& woken) {
  auto& clients = worker.shared.crowd.clients;
  const auto& clock = worker.shared.cache.clock;
  const auto begun = clock.steady();
  for (std::chrono::milliseconds waited{}; waited < kLongestWait;
       waited = std::chrono::ceil<std::chrono::milliseconds>(clock.steady() - begun)) {
    if (room.may_wait)
      worker.crowd.doorkeeper.make_room(newcomer_from(worker, address, room.limits),
                                        clock.steady());
    co_await woken.wait(std::min(std::max(kBetweenLooks, waited / 2), kLongestWait - waited));
    auto guest = clients.enter(address, room.limits);
    if (!guest && room.watches && has_asked(socket))
      guest = clients.enter_reserve(address, room.limits);
    if (guest) co_return guest;
  }
  co_return std::nullopt;
}

// What is short where the limit of connections is reached, so that the advice helps.
crowd::Shortage shortage_at_limit(const Worker& worker) {
  const bool is_lowered =
      worker.shared.crowd.descriptors.connections < worker.policy()->settings.limits.connections;
  return is_lowered ? crowd::Shortage::descriptors : crowd::Shortage::connections;
}

Task<Guest> let_in(Worker& worker, net::Socket& socket, const config::Address& address) {
  auto room = room_for(worker, socket);
  auto guest = try_to_enter(worker, address, room.limits);
  if (guest) co_return guest;
  worker.shared.crowd.warnings.warn(shortage_at_limit(worker), worker.shared.cache.clock.steady());
  auto& shared = worker.shared;
  const auto most = room.may_wait ? shared.crowd.descriptors.newcomers : kFewNewcomers;
  room.watches = watches_over_us(worker, address);
  auto& line = room.watches ? shared.newcomers.watching : shared.newcomers.others;
  net::Wakeup woken(worker.io.get_executor());
  const net::WaitList::Waiting in_line(line, woken);
  // Each newcomer in line holds a descriptor, so their number is bounded.
  if (in_line.place() <= most) guest = co_await await_room(worker, socket, address, room, woken);
  co_return guest;
}

}  // namespace

Task<void> serve_client(Worker& worker, net::Socket socket) {
  net::error_code gone;
  const auto remote = socket.remote_endpoint(gone);
  // A client that has reset its connection already has no address any more.
  if (gone) co_return;
  const auto address = upstream::plain_address(remote.address());
  auto guest = co_await let_in(worker, socket, address);
  if (!guest) {
    worker.observed.counters.rejected.add();
    co_return;
  }
  // A drain does not wait for connections that begin during it (Server::open_connections()).
  const auto door = worker.shared.instance.draining ? policy::Door::late : policy::Door::network;
  // Begins at once. Not awaited, so that an idle connection does without the frame of this
  // coroutine.
  net::spawn(worker.io.get_executor(),
             run_session(worker, std::move(socket), remote, std::move(*guest), door));
}

namespace {

// Usually the process is out of descriptors. Connections that end return theirs.
Task<void> recover(Worker& worker, net::error_code error) {
  if (error == asio::error::no_descriptors)
    worker.crowd.doorkeeper.free_descriptors(worker.shared.cache.clock.steady());
  // The connection stays in the queue of the socket: without a pause, this loop would spin until a
  // descriptor is free.
  net::Timer timer(worker.io.get_executor(), kOutOfDescriptors);
  co_await timer.async_wait(net::as_result);
}

Task<void> serve_operator(Worker& worker, net::AnySocket socket) {
  const net::tcp::endpoint this_machine(asio::ip::address_v4::loopback(), 0);
  auto guest = worker.shared.crowd.operators.enter_reserve(
      upstream::plain_address(this_machine.address()), kOfOperators);
  if (!guest) co_return;
  co_await run_session(worker, std::move(socket), this_machine, std::move(*guest),
                       policy::Door::control);
}

}  // namespace

Task<void> accept_operators(Worker& worker, std::shared_ptr<net::LocalAcceptor> acceptor) {
  while (acceptor->is_open()) {
    net::AnySocket socket(worker.io.get_executor());
    const auto [error] = co_await acceptor->async_accept(socket, net::as_result);
    if (error == asio::error::operation_aborted) co_return;
    if (error) {
      co_await recover(worker, error);
    } else {
      net::spawn(worker.io.get_executor(), serve_operator(worker, std::move(socket)));
    }
  }
}

Task<void> accept_clients(Worker& worker, net::Acceptor& acceptor) {
  while (acceptor.is_open()) {
    net::Socket socket(worker.io.get_executor());
    const auto [error] = co_await acceptor.async_accept(socket, net::as_result);
    if (!error) {
      worker.observed.counters.accepted.add();
      net::spawn(worker.io.get_executor(), serve_client(worker, std::move(socket)));
    } else if (error == asio::error::operation_aborted) {
      co_return;
    } else {
      co_await recover(worker, error);
    }
  }
}

}  // namespace proxy::server
