// Where the proxy may connect to: what keeps a client from reaching our own machine through us.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "proxy/lists/access_lists.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/upstream/endpoint.hpp"

namespace proxy::upstream {

// The form that access lists compare: IPv4 and its mapped form are one; the zone is dropped.
config::Address plain_address(const boost::asio::ip::address& address);

// One per thread. Denied to everybody are our own listening sockets; a wildcard one has every
// address of this machine. Denied to clients is also what `deny_to` lists, and with `deny_to_self`
// every address of our interfaces. An IPv4 address inside a NAT64 one (64:ff9b::/96, RFC 6052)
// counts as itself.
class Guard {
 public:
  using Clock = std::chrono::steady_clock;

  // `lists` outlive the guard; none block nothing.
  Guard(const config::AccessSettings& access, std::vector<net::tcp::endpoint> listening,
        const lists::AccessLists* lists = nullptr);

  // To be asked about the very address that is connected to, or names could be rebound in between.
  [[nodiscard]] bool allows(const boost::asio::ip::address& address, std::uint16_t port,
                            Trust trust) const;

  // Whether a list blocks that address, which is another question with another answer for people.
  [[nodiscard]] bool blocks(const boost::asio::ip::address& address, Trust trust) const;

  // Whether a client's URL says by itself that it leads to a denied address: an IP address without
  // brackets, `localhost` or a name below it (RFC 6761 section 6.3). Cheap: for every request,
  // before cache and peers. Any other name gets its answer at connect time.
  [[nodiscard]] bool names_denied_literal(std::string_view host, std::uint16_t port) const;

  // Whether that is one of our own listening sockets, spelled as an address: a request for it is
  // for us. Cheap where the port is none of ours.
  [[nodiscard]] bool names_own_socket(std::string_view host, std::uint16_t port) const;

  // Looks at the interfaces again where the last look is over 10 s old: addresses come and go.
  void refresh(Clock::time_point now);

 private:
  [[nodiscard]] bool is_denied(const config::Address& address, std::uint16_t port,
                               Trust trust) const;
  [[nodiscard]] bool is_own_socket(const config::Address& address, std::uint16_t port) const;
  [[nodiscard]] bool is_local(const config::Address& address) const;

  config::Networks deny_to_;
  bool deny_to_self_;
  std::vector<net::tcp::endpoint> listening_;
  const lists::AccessLists* lists_;
  std::vector<config::Address> interfaces_;
  Clock::time_point looked_at_{};
};

}  // namespace proxy::upstream
