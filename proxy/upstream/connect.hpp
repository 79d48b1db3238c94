// Opens a connection to an endpoint: resolves, checks, races and, for https, verifies.
#pragma once

#include <chrono>
#include <memory>

#include "proxy/net/stream.hpp"
#include "proxy/upstream/endpoint.hpp"
#include "proxy/upstream/guard.hpp"
#include "proxy/upstream/resolve.hpp"
#include "proxy/upstream/tls.hpp"

namespace proxy::upstream {

// One per thread. Everything passed to the constructor must outlive it.
class Connector {
 public:
  static constexpr std::chrono::milliseconds kHeadStart{250};  // RFC 8305 section 8

  Connector(net::Deadlines& deadlines, Resolver& resolver, Guard& guard, TlsClient& tls,
            std::chrono::milliseconds head_start = kHeadStart);

  // Takes at most `timeout` for all steps together (with TLS up to two ticks of the Deadlines
  // more). The stream has no deadline. Denied and blocked addresses are skipped. If no address is
  // left, the error is Errc::blocked_address if a list blocked one of them, else
  // Errc::denied_address.
  net::Task<net::Result<std::unique_ptr<net::Stream>>> connect(const Endpoint& endpoint,
                                                               std::chrono::milliseconds timeout);

 private:
  [[nodiscard]] net::Result<std::vector<net::tcp::endpoint>> permitted(const Addresses& addresses,
                                                                       const Endpoint& endpoint);

  net::Deadlines& deadlines_;
  Resolver& resolver_;
  Guard& guard_;
  TlsClient& tls_;
  std::chrono::milliseconds head_start_;
};

}  // namespace proxy::upstream
