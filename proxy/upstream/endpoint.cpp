#include "proxy/upstream/endpoint.hpp"

namespace proxy::upstream {

std::string name_of(const Endpoint& server) {
  const bool is_ipv6 = server.host.find(':') != std::string::npos;
  const std::string host = is_ipv6 ? '[' + server.host + ']' : server.host;
  return (server.tls ? "https://" : "http://") + host + ':' + std::to_string(server.port);
}

}  // namespace proxy::upstream
