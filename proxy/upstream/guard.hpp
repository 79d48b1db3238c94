// Decides which addresses the proxy may connect to. Keeps clients from reaching this machine
// through the proxy.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "proxy/lists/access_lists.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/upstream/endpoint.hpp"

namespace proxy::upstream {

// The form of an address that access lists compare: an IPv4 address equals its mapped form, and the
// zone is dropped.
config::Address plain_address(const boost::asio::ip::address& address);

// One per thread. Our own listening sockets are denied to every endpoint; a wildcard socket has
// every address of this machine. Endpoints from clients and strangers are also denied the addresses
// in `deny_to` and, with `deny_to_self`, every address of our interfaces. A NAT64 address
// (64:ff9b::/96, RFC 6052) counts as the IPv4 address inside it.
class Guard {
 public:
  using Clock = std::chrono::steady_clock;

  // `lists` must outlive the guard; null: no lists.
  Guard(const config::AccessSettings& access, std::vector<net::tcp::endpoint> listening,
        const lists::AccessLists* lists = nullptr);

  // Replaces the settings and lists for all later checks.
  void follow(const config::AccessSettings& access, const lists::AccessLists* lists);

  // Whether the proxy may connect to the address. Call this with the very address of the
  // connection: a name could resolve to another one in between.
  [[nodiscard]] bool allows(const boost::asio::ip::address& address, std::uint16_t port,
                            NamedBy named_by) const {
    return allows(plain_address(address), port, named_by);
  }

  // Whether a list blocks the address. Separate from allows(), because the error text differs.
  [[nodiscard]] bool blocks(const boost::asio::ip::address& address, NamedBy named_by) const {
    const bool is_listed = named_by == NamedBy::client || named_by == NamedBy::stranger;
    return lists_ && is_listed && lists_->blocks(plain_address(address));
  }

  // Whether the host in a client's URL leads to a denied address by its text alone: an IP address
  // without brackets, `localhost` or a name below it (RFC 6761 section 6.3), or any host if every
  // address is denied. Cheap: called for every request, before the look-up in cache and peers.
  // Other names are checked when connecting.
  [[nodiscard]] bool names_denied_literal(std::string_view host, std::uint16_t port) const;

  // Whether the settings deny more than what every machine has (the named sets loopback, link-local
  // and metadata). If so, a name must be resolved to know whether a client may reach its host.
  [[nodiscard]] bool denies_by_address() const { return denies_by_address_; }

  // Whether addresses are judged: denies_by_address(), or a list blocks addresses.
  [[nodiscard]] bool judges_addresses() const {
    return denies_by_address_ || (lists_ && lists_->block().has_addresses());
  }

  // Whether a listening socket of ours has the port.
  [[nodiscard]] bool has_own_socket(std::uint16_t port) const;
  // Whether host and port name one of our own listening sockets by its address. Such a request is
  // for us. Cheap if no socket of ours has the port.
  [[nodiscard]] bool names_own_socket(std::string_view host, std::uint16_t port) const;

  // Reads the addresses of the interfaces again, at the first call and then each 10 s.
  void refresh(Clock::time_point now);

 private:
  [[nodiscard]] bool allows(const config::Address& address, std::uint16_t port,
                            NamedBy named_by) const;
  [[nodiscard]] bool is_denied(const config::Address& address, std::uint16_t port,
                               NamedBy named_by) const;
  [[nodiscard]] bool is_own_socket(const config::Address& address, std::uint16_t port) const;
  [[nodiscard]] bool is_local(const config::Address& address) const;

  config::Networks deny_to_;
  bool deny_to_self_ = true;
  bool denies_all_ = false;
  bool denies_by_address_ = false;
  std::vector<net::tcp::endpoint> listening_;
  const lists::AccessLists* lists_ = nullptr;
  std::vector<config::Address> interfaces_;
  std::optional<Clock::time_point> looked_at_;  // by refresh()
};

}  // namespace proxy::upstream
