// Opens a connection to an endpoint: resolves, checks, races and, for https, verifies.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "proxy/net/stream.hpp"
#include "proxy/upstream/endpoint.hpp"
#include "proxy/upstream/guard.hpp"
#include "proxy/upstream/resolve.hpp"
#include "proxy/upstream/tls.hpp"
#include "proxy/upstream/under_way.hpp"

namespace proxy::upstream {

// What a Connector does when file descriptors run out.
struct DescriptorShortage {
  std::size_t scarce_from = ~std::size_t{0};  // see race()
  std::function<void()> free_some = {};       // soon, or at once
};

// One per thread. Everything passed to the constructor must outlive it.
class Connector {
 public:
  static constexpr std::chrono::milliseconds kHeadStart{250};  // RFC 8305 section 8

  Connector(net::Deadlines& deadlines, Resolver& resolver, Guard& guard, TlsClient& tls,
            std::chrono::milliseconds head_start = kHeadStart, DescriptorShortage shortage = {});

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
  [[nodiscard]] net::Result<std::vector<net::tcp::endpoint>> permitted(const Addresses& addresses,
                                                                       const Endpoint& endpoint);
  net::Task<net::Result<net::Socket>> open(const std::vector<net::tcp::endpoint>& endpoints,
                                           std::chrono::steady_clock::time_point deadline);

  net::Deadlines& deadlines_;
  Resolver& resolver_;
  Guard& guard_;
  TlsClient& tls_;
  std::chrono::milliseconds head_start_;
  const DescriptorShortage shortage_;
};

}  // namespace proxy::upstream
