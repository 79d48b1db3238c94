// Opens a connection to an endpoint: resolves, checks, races and, for https, verifies.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "proxy/machine/clock.hpp"
#include "proxy/net/stream.hpp"
#include "proxy/upstream/endpoint.hpp"
#include "proxy/upstream/guard.hpp"
#include "proxy/upstream/origin_traffic.hpp"
#include "proxy/upstream/resolve.hpp"
#include "proxy/upstream/tls.hpp"

namespace proxy::upstream {

inline constexpr std::size_t kMaxAttempts = 16;  // trying thousands of addresses would not help

// Alternates between the families, IPv6 first (RFC 8305 section 4), and keeps the order within
// each. Returns at most kMaxAttempts addresses.
Addresses attempt_order(const Addresses& addresses);

// How race() tries the addresses of one host.
struct RaceOptions {
  std::chrono::milliseconds head_start{250};  // RFC 8305 section 8
  std::size_t scarce_from = ~std::size_t{0};
};

// Happy Eyeballs (RFC 8305): the first address to connect wins, and the other connections are
// closed. Each attempt starts `head_start` after its predecessor, or at once when an attempt fails
// (section 5). A socket with the number `scarce_from` or a higher one is closed at once. Errors:
// connect_refused, connect_failed, connect_timed_out, no_descriptors.
net::Task<net::Result<net::Socket>> race(std::vector<net::tcp::endpoint> endpoints,
                                         RaceOptions options, machine::Clock& clock,
                                         machine::Clock::SteadyTime deadline);

// When file descriptors are scarce for a Connector, and how it gets some free.
struct DescriptorShortage {
  std::size_t scarce_from = ~std::size_t{0};  // see race()
  std::function<void()> free_some = {};       // soon, or at once
};

// Connects to servers. Each thread has its own.
class Connector {
 public:
  // All references outlive the Connector.
  struct Needs {
    net::Deadlines& deadlines;
    Resolver& resolver;
    Guard& guard;
    TlsClient& tls;
    machine::Clock& clock;
  };
  explicit Connector(const Needs& needs, DescriptorShortage shortage = {})
      : needs_(needs), shortage_(std::move(shortage)) {}

  // Takes at most `timeout` for all steps together (with TLS up to two ticks of the Deadlines
  // more). The stream has no deadline. Denied and blocked addresses are skipped. If no address is
  // left, the error is Errc::blocked_address if a list blocked one of them, else
  // Errc::denied_address. If descriptors run out, the Connector has some freed and tries again for
  // up to 40 ms, within `timeout`. If none becomes free, the error is Errc::no_descriptors.
  // `shown`, unless it is null, awaits the name, then the connection.
  net::Task<net::Result<std::unique_ptr<net::Stream>>> connect(const Endpoint& endpoint,
                                                               std::chrono::milliseconds timeout,
                                                               UnderWay* shown = nullptr);

  // Why a client may not reach this endpoint through a parent: all its addresses are denied or
  // blocked, or they could not be resolved in time. No error if the client may, or if the name has
  // no address here. The name is resolved only if the settings deny or block more addresses than
  // those of every machine; such an address, as loopback, would be the parent's own.
  net::Task<net::error_code> objection(const Endpoint& endpoint, std::chrono::milliseconds timeout);

 private:
  using Time = machine::Clock::SteadyTime;

  [[nodiscard]] net::Result<std::vector<net::tcp::endpoint>> permitted(const Addresses& addresses,
                                                                       const Endpoint& endpoint);
  net::Task<net::Result<net::Socket>> open(const std::vector<net::tcp::endpoint>& endpoints,
                                           Time deadline);

  const Needs needs_;
  const DescriptorShortage shortage_;
};

}  // namespace proxy::upstream
