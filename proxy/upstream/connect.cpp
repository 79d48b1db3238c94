#include "proxy/upstream/connect.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "proxy/upstream/failure.hpp"

namespace proxy::upstream {
namespace {

using Time = machine::Clock::SteadyTime;

// How often, and how many times, a connection looks whether a descriptor was freed for it. A busy
// thread may close what it was asked to only in its next turn.
constexpr std::chrono::milliseconds kBetweenTries{4};
constexpr int kMostTries = 10;
constexpr int kTriesPerCall = 4;  // after which some are to be freed once more

constexpr std::size_t kMostOpen = 4;  // attempts at a time

struct RaceState {
  RaceState(net::Executor executor, std::size_t scarce) : wake(executor), scarce_from(scarce) {}

  net::Timer wake;  // cancelled when an attempt ends
  const std::size_t scarce_from;
  std::vector<net::Socket> attempts;
  std::size_t running = 0;
  std::optional<std::size_t> winner;
  Errc failure = Errc::connect_failed;
};

void end_attempt(RaceState& state, std::size_t attempt, net::error_code error) {
  --state.running;
  const bool lacked_descriptors = state.failure == Errc::no_descriptors;
  if (error == net::asio::error::connection_refused && !lacked_descriptors)
    state.failure = Errc::connect_refused;
  if (error == net::asio::error::no_descriptors) state.failure = Errc::no_descriptors;
  const bool connected =
      !error && state.attempts[attempt].is_open();  // else end_silent() was sooner
  if (connected && !state.winner) state.winner = attempt;
  state.wake.cancel();
}

// The system gives the lowest number that is free.
net::error_code open(net::Socket& socket, const net::tcp::endpoint& endpoint,
                     std::size_t scarce_from) {
  net::error_code error;
  socket.open(endpoint.protocol(), error);
  if (error || static_cast<std::size_t>(socket.native_handle()) < scarce_from) return error;
  net::error_code ignored;
  socket.close(ignored);
  return net::asio::error::no_descriptors;
}

// An error is posted, so that a failure never ends an attempt before race() waits.
void start_attempt(const std::shared_ptr<RaceState>& state, const net::tcp::endpoint& endpoint) {
  const auto attempt = state->attempts.size();
  auto& socket = state->attempts.emplace_back(state->wake.get_executor());
  ++state->running;
  const auto unopened = open(socket, endpoint, state->scarce_from);
  if (unopened) {
    net::asio::post(state->wake.get_executor(),
                    [state, attempt, unopened] { end_attempt(*state, attempt, unopened); });
    return;
  }
  socket.async_connect(
      endpoint, [state, attempt](net::error_code error) { end_attempt(*state, attempt, error); });
}

// Ends an attempt that has had several head starts, so that one race holds few descriptors. Its
// handler counts it.
void end_silent(RaceState& state, std::size_t attempt) {
  net::error_code ignored;
  state.attempts[attempt].close(ignored);
}

}  // namespace

// Alternating: where one family leads nowhere, the other one is tried after a single head start.
Addresses attempt_order(const Addresses& addresses) {
  Addresses v6;
  Addresses v4;
  for (const auto& address : addresses) (address.is_v6() ? v6 : v4).push_back(address);
  Addresses order;
  for (std::size_t i = 0; i < std::max(v6.size(), v4.size()); ++i) {
    if (i < v6.size()) order.push_back(v6[i]);
    if (i < v4.size()) order.push_back(v4[i]);
  }
  if (order.size() > kMaxAttempts) order.resize(kMaxAttempts);
  return order;
}

net::Task<net::Result<net::Socket>> race(std::vector<net::tcp::endpoint> endpoints,
                                         RaceOptions options, machine::Clock& clock,
                                         Time deadline) {
  const auto executor = co_await net::ThisExecutor();
  const auto state = std::make_shared<RaceState>(executor, options.scarce_from);
  // Handlers keep the state alive, so the attempts end here: with the race, or when it is
  // destroyed.
  const std::shared_ptr<void> ending(nullptr, [state](void*) { state->attempts.clear(); });
  state->attempts.reserve(endpoints.size());  // a socket must not move while it connects
  std::size_t next = 0;
  auto next_start = clock.steady();
  while (!state->winner) {
    const auto now = clock.steady();
    if (now >= deadline) co_return Errc::connect_timed_out;
    if (next < endpoints.size() && (state->running == 0 || now >= next_start)) {
      if (next >= kMostOpen) end_silent(*state, next - kMostOpen);
      start_attempt(state, endpoints[next++]);
      next_start = now + options.head_start;
    }
    if (state->running == 0) co_return state->failure;
    const auto until = next < endpoints.size() ? std::min(next_start, deadline) : deadline;
    state->wake.expires_after(until - now);  // the clock may stand, and the timer's never does
    co_await state->wake.async_wait(net::as_result);
  }
  co_return std::move(state->attempts[*state->winner]);
}

net::Task<net::Result<std::unique_ptr<net::Stream>>> Connector::connect(
    const Endpoint& endpoint, std::chrono::milliseconds timeout, UnderWay* shown) {
  const auto deadline = needs_.clock.steady() + timeout;
  if (shown) shown->await(Awaited::name);
  const auto addresses = co_await needs_.resolver.resolve(endpoint.host, timeout);
  if (!addresses) co_return addresses.error();
  if (shown) shown->await(Awaited::connection, needs_.clock.steady());
  const auto endpoints = permitted(*addresses, endpoint);
  if (!endpoints) co_return endpoints.error();
  auto socket = co_await open(*endpoints, deadline);
  if (!socket) co_return socket.error();
  if (!endpoint.tls) {
    co_return std::make_unique<net::Stream>(std::move(*socket), needs_.deadlines);
  }
  co_return co_await needs_.tls.handshake(
      std::move(*socket), endpoint.host, needs_.deadlines,
      std::chrono::ceil<std::chrono::milliseconds>(deadline - needs_.clock.steady()));
}

net::Task<net::error_code> Connector::objection(const Endpoint& endpoint,
                                                std::chrono::milliseconds timeout) {
  if (endpoint.named_by == NamedBy::configured || !needs_.guard.judges_addresses()) {
    co_return net::error_code{};
  }
  const auto addresses = co_await needs_.resolver.resolve(endpoint.host, timeout);
  // Whether a name without an address here has one at the parent, the parent tells.
  const bool is_late = !addresses && addresses.error() == Errc::resolver_timed_out;
  if (!addresses) co_return is_late ? addresses.error() : net::error_code{};
  const auto endpoints = permitted(*addresses, endpoint);
  co_return endpoints ? net::error_code{} : endpoints.error();
}

net::Task<net::Result<net::Socket>> Connector::open(
    const std::vector<net::tcp::endpoint>& endpoints, Time deadline) {
  const RaceOptions options{.scarce_from = shortage_.scarce_from};
  auto socket = co_await race(endpoints, options, needs_.clock, deadline);
  if (!shortage_.free_some) co_return std::move(socket);
  for (int tries = 0; tries < kMostTries; ++tries) {
    // The limits on clients leave room for these sockets, but the disk opens files, too: what is
    // idle gives way to what is needed now.
    const bool is_short = !socket && socket.error() == Errc::no_descriptors;
    if (!is_short || needs_.clock.steady() + kBetweenTries > deadline) break;
    if (tries % kTriesPerCall == 0) shortage_.free_some();
    net::Timer timer(co_await net::ThisExecutor(), kBetweenTries);
    co_await timer.async_wait(net::as_result);
    if (needs_.clock.steady() >= deadline) break;
    socket = co_await race(endpoints, options, needs_.clock, deadline);
  }
  co_return std::move(socket);
}

net::Result<std::vector<net::tcp::endpoint>> Connector::permitted(const Addresses& addresses,
                                                                  const Endpoint& endpoint) {
  // Judged here, with the very addresses that are connected to: a name may have others a moment
  // later (DNS rebinding).
  needs_.guard.refresh(needs_.deadlines.now());
  Addresses allowed;
  bool blocked = false;
  for (const auto& address : addresses) {
    if (!needs_.guard.allows(address, endpoint.port, endpoint.named_by)) continue;
    if (needs_.guard.blocks(address, endpoint.named_by)) {
      blocked = true;
    } else {
      allowed.push_back(address);
    }
  }
  if (allowed.empty()) return blocked ? Errc::blocked_address : Errc::denied_address;
  std::vector<net::tcp::endpoint> endpoints;
  for (const auto& address : attempt_order(allowed)) endpoints.emplace_back(address, endpoint.port);
  return endpoints;
}

}  // namespace proxy::upstream
