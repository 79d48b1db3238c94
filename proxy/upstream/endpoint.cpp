#include "proxy/upstream/endpoint.hpp"

#include <netinet/in.h>

#include <cstring>

namespace proxy::upstream {

namespace ip = boost::asio::ip;

std::string name_of(const Endpoint& server) {
  const bool is_ipv6 = server.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? '[' + server.host + ']' : server.host;
  return (server.tls ? "https://" : "http://") + host + ':' + std::to_string(server.port);
}

std::optional<ip::address> address_in(const sockaddr* address) {
  if (!address) return std::nullopt;
  if (address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    return ip::address_v4(ntohl(v4.sin_addr.s_addr));
  }
  if (address->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6{};
  std::memcpy(&v6, address, sizeof v6);
  ip::address_v6::bytes_type bytes;
  std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
  return ip::address_v6(bytes);
}

}  // namespace proxy::upstream
