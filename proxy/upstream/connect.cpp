#include "proxy/upstream/connect.hpp"

#include <utility>

#include "proxy/upstream/error.hpp"
#include "proxy/upstream/race.hpp"

namespace proxy::upstream {
namespace {

using Clock = std::chrono::steady_clock;

// How often, and how many times, a connection looks whether a descriptor was freed for it. A busy
// thread may close what it was asked to only in its next turn.
constexpr std::chrono::milliseconds kBetweenTries{4};
constexpr int kMostTries = 10;
constexpr int kTriesPerCall = 4;  // after which some are to be freed once more

std::chrono::milliseconds left_until(Clock::time_point deadline) {
  return std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
}

}  // namespace

Connector::Connector(net::Deadlines& deadlines, Resolver& resolver, Guard& guard, TlsClient& tls,
                     std::chrono::milliseconds head_start, DescriptorShortage shortage)
    : deadlines_(deadlines),
      resolver_(resolver),
      guard_(guard),
      tls_(tls),
      head_start_(head_start),
      shortage_(std::move(shortage)) {}

net::Task<net::Result<std::unique_ptr<net::Stream>>> Connector::connect(
    const Endpoint& endpoint, std::chrono::milliseconds timeout, UnderWay* shown) {
  const auto deadline = Clock::now() + timeout;
  if (shown) shown->await(Awaited::name);
  const auto addresses = co_await resolver_.resolve(endpoint.host, timeout);
  if (!addresses) co_return addresses.error();
  if (shown) shown->await(Awaited::connection, Clock::now());
  const auto endpoints = permitted(*addresses, endpoint);
  if (!endpoints) co_return endpoints.error();
  auto socket = co_await open(*endpoints, deadline);
  if (!socket) co_return socket.error();
  if (!endpoint.tls) {
    co_return std::make_unique<net::Stream>(std::move(*socket), deadlines_);
  }
  co_return co_await tls_.handshake(std::move(*socket), endpoint.host, deadlines_,
                                    left_until(deadline));
}

net::Task<net::error_code> Connector::objection(const Endpoint& endpoint,
                                                std::chrono::milliseconds timeout) {
  if (endpoint.trust == Trust::configured || !guard_.judges_addresses()) {
    co_return net::error_code{};
  }
  const auto addresses = co_await resolver_.resolve(endpoint.host, timeout);
  if (!addresses && addresses.error() == Errc::resolver_timed_out) co_return addresses.error();
  if (!addresses) co_return net::error_code{};
  const auto endpoints = permitted(*addresses, endpoint);
  if (!endpoints) co_return endpoints.error();
  co_return net::error_code{};
}

net::Task<net::Result<net::Socket>> Connector::open(
    const std::vector<net::tcp::endpoint>& endpoints, Clock::time_point deadline) {
  auto socket = co_await race(endpoints, head_start_, deadline, shortage_.scarce_from);
  if (!shortage_.free_some) co_return std::move(socket);
  for (int tries = 0; tries < kMostTries; ++tries) {
    const bool is_short = !socket && socket.error() == Errc::no_descriptors;
    if (!is_short || Clock::now() + kBetweenTries > deadline) break;
    if (tries % kTriesPerCall == 0) shortage_.free_some();
    net::Timer timer(co_await net::ThisExecutor(), kBetweenTries);
    co_await timer.async_wait(net::as_result);
    if (Clock::now() >= deadline) break;
    socket = co_await race(endpoints, head_start_, deadline, shortage_.scarce_from);
  }
  co_return std::move(socket);
}

net::Result<std::vector<net::tcp::endpoint>> Connector::permitted(const Addresses& addresses,
                                                                  const Endpoint& endpoint) {
  guard_.refresh(deadlines_.now());
  Addresses allowed;
  bool blocked = false;
  for (const auto& address : addresses) {
    if (!guard_.allows(address, endpoint.port, endpoint.trust)) continue;
    if (guard_.blocks(address, endpoint.trust)) {
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
