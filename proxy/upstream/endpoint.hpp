// The address of a server that we connect to, and how far we trust the address.
#pragma once

#include <sys/socket.h>

#include <array>
#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "digest/keyed_hash.hpp"
#include "digest/little_endian.hpp"

namespace proxy::upstream {

enum class NamedBy {
  client,      // named by a client's URL: may not reach what `deny_to` or `block` lists
  allowed,     // like `client`, but listed in `allow`: exempt from `block`
  stranger,    // named by another server: like `client`, and may not reach private addresses
  configured,  // named by the settings (peers, reverse origins): exempt from all lists
};

// The key of the connection pool. Equal endpoints may share connections, so `named_by` is part of
// the key. The host is a name in lower case or an IP address without brackets.
struct Endpoint {
  bool tls = false;
  std::string host;
  std::uint16_t port = 80;
  NamedBy named_by = NamedBy::client;

  bool operator==(const Endpoint&) const = default;
};

// The addresses of one host.
using Addresses = std::vector<boost::asio::ip::address>;

// "http://host:80", for people.
inline std::string name_of(const Endpoint& server) {
  const bool is_ipv6 = server.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? '[' + server.host + ']' : server.host;
  return (server.tls ? "https://" : "http://") + host + ':' + std::to_string(server.port);
}

// The IPv4 or IPv6 address. Nothing: null, or another family.
std::optional<boost::asio::ip::address> address_in(const sockaddr* address);

}  // namespace proxy::upstream

// Keyed, because clients name hosts and ports.
template <>
struct std::hash<proxy::upstream::Endpoint> {
  std::size_t operator()(const proxy::upstream::Endpoint& endpoint) const {
    const std::uint64_t rest = (std::uint64_t{endpoint.port} << 3U) |
                               (std::uint64_t{endpoint.tls} << 2U) |
                               static_cast<std::uint64_t>(endpoint.named_by);
    std::array<std::uint8_t, 16> both{};
    digest::store64(both.data(), digest::TextHash{}(endpoint.host));
    digest::store64(both.data() + 8, rest);
    return digest::keyed_hash(both);
  }
};
