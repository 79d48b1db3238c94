// Where the proxy may connect to: keeps clients from reaching this machine through us.
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

// The form that access lists compare: an IPv4 address and its mapped form are one; the zone is
// dropped.
config::Address plain_address(const boost::asio::ip::address& address);

// One per thread. Our own listening sockets are denied to everybody; a wildcard socket has every
// address of this machine. Clients are also denied what `deny_to` lists and, with `deny_to_self`,
// every address of our interfaces. A NAT64 address (64:ff9b::/96, RFC 6052) counts as the IPv4
// address inside it.
class Guard {
 public:
  using Clock = std::chrono::steady_clock;

  // `lists` must outlive the guard; null: no lists.
  Guard(const config::AccessSettings& access, std::vector<net::tcp::endpoint> listening,
        const lists::AccessLists* lists = nullptr);

  // Other settings and lists, from now on.
  void follow(const config::AccessSettings& access, const lists::AccessLists* lists);

  // Must be asked about the very address that is connected to, else names could be rebound in
  // between.
  [[nodiscard]] bool allows(const boost::asio::ip::address& address, std::uint16_t port,
                            Trust trust) const;

  // Whether a list blocks the address. Asked separately because people get another answer.
  [[nodiscard]] bool blocks(const boost::asio::ip::address& address, Trust trust) const;

  // Whether the host in a client's URL leads to a denied address by its text alone: an IP address
  // without brackets, `localhost` or a name below it (RFC 6761 section 6.3). Cheap: asked for every
  // request, before cache and peers. Other names are checked when connecting.
  [[nodiscard]] bool names_denied_literal(std::string_view host, std::uint16_t port) const;

  // Whether this is one of our own listening sockets, given by address: such a request is for us.
  // Cheap if the port is not one of ours.
  [[nodiscard]] bool names_own_socket(std::string_view host, std::uint16_t port) const;

  // Reads the addresses of the interfaces again if they were read over 10 s ago.
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
