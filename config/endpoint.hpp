// A host and a port, as listening addresses and URLs in the settings name them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace config {

struct HostPort {
  std::string host;  // lower case, IPv6 without brackets
  std::uint16_t port = 0;

  bool operator==(const HostPort&) const = default;
};

// "127.0.0.1:3128", "[::1]:0": an address and not a name, since sockets are bound without
// resolving.
std::optional<HostPort> parse_listen(std::string_view text);

// "127.0.0.1:3128", "[::1]:3128".
std::string to_text(const HostPort& at);

// "http://HOST[:PORT][/]", or the same with https. HOST is a name or an address. The default port
// is 80, or 443.
struct ServerUrl {
  bool tls = false;
  HostPort at;
};
std::optional<ServerUrl> parse_server_url(std::string_view url);

// A proxy as FindProxyForURL() returns it: "PROXY 10.0.0.2:3128", "HTTPS [::1]:443".
std::string pac_server(const ServerUrl& proxy);

// "*", "*.example.com", a name or an address (IPv6 in brackets), each with or without a port.
struct HostSpec {
  std::string host;  // lower case, IPv6 without brackets
  std::optional<std::uint16_t> port;

  bool operator==(const HostSpec&) const = default;
};
std::optional<HostSpec> parse_host_pattern(std::string_view text);

// Whether a connection to `peer` would reach our own socket `listen`, as far as their text tells.
bool is_ourselves(const HostPort& peer, const HostPort& listen);

}  // namespace config
