#include "config/endpoint.hpp"

#include <algorithm>

#include "config/networks.hpp"
#include "config/text.hpp"

namespace config {

namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

// The underscore is none of a host name (RFC 952), but names of containers and of Windows have it.
bool is_name_char(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_';
}

// A host of only digits and dots is an address or a mistake, never a name (RFC 3986 section 3.2.2).
bool is_host(std::string_view host) {
  if (host.empty() || host.size() > 253) return false;
  if (host.find_first_not_of("0123456789.") == std::string_view::npos) {
    return parse_address(host).has_value();
  }
  return std::all_of(host.begin(), host.end(), is_name_char);
}

// Takes the text before the port's colon, without brackets, and leaves the rest in `text`.
std::optional<std::string> split_host(std::string_view& text) {
  // Without brackets, the last group of an IPv6 address would look like a port.
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string host = lower_case(text.substr(1, end - 1));
    text.remove_prefix(end + 1);
    const bool v6 = host.find(':') != std::string::npos && parse_address(host);
    return v6 ? std::optional(host) : std::nullopt;
  }
  const std::string host = lower_case(text.substr(0, text.find(':')));
  text.remove_prefix(host.size());
  return is_host(host) ? std::optional(host) : std::nullopt;
}

std::optional<std::uint16_t> parse_port(std::string_view text,
                                        std::optional<std::uint16_t> absent) {
  if (text.empty()) return absent;
  if (!text.starts_with(':')) return std::nullopt;
  const auto port = parse_number(text.substr(1), 65'535);
  return port ? std::optional(static_cast<std::uint16_t>(*port)) : std::nullopt;
}

bool names_loopback(const std::string& host) {
  const auto address = parse_address(host);
  return host == "localhost" || (address && is_loopback(*address));
}

bool is_wildcard(const Address& address) {
  return address == Address{} || address == address_from_v4({0, 0, 0, 0});
}

}  // namespace

std::optional<HostPort> parse_listen(std::string_view text) {
  const auto host = split_host(text);
  if (!host || !parse_address(*host)) return std::nullopt;
  // No port is so usual for a proxy that it could be left out.
  const auto port = parse_port(text, std::nullopt);
  if (!port) return std::nullopt;
  return HostPort{*host, *port};
}

std::string to_text(const HostPort& at) {
  const bool v6 = at.host.find(':') != at.host.npos;
  return (v6 ? '[' + at.host + ']' : at.host) + ':' + std::to_string(at.port);
}

std::string pac_server(const ServerUrl& proxy) {
  return (proxy.tls ? "HTTPS " : "PROXY ") + to_text(proxy.at);
}

// A user or a path is refused: it would be dropped unnoticed, since only the server is asked for.
std::optional<ServerUrl> parse_server_url(std::string_view url) {
  const auto scheme = lower_case(url.substr(0, url.find("//") + 2));
  const bool tls = scheme == "https://";
  if (!tls && scheme != "http://") return std::nullopt;
  url.remove_prefix(scheme.size());
  if (url.ends_with('/')) url.remove_suffix(1);
  const auto host = split_host(url);
  const auto port = host ? parse_port(url, tls ? kHttpsPort : kHttpPort) : std::nullopt;
  if (!port || *port == 0) return std::nullopt;
  return ServerUrl{tls, {*host, *port}};
}

std::optional<HostSpec> parse_host_pattern(std::string_view text) {
  std::string wild;
  if (text.starts_with('*')) {
    wild = text.starts_with("*.") ? "*." : "*";
    text.remove_prefix(wild.size());
  }
  std::optional<std::string> host("");
  if (wild != "*") host = split_host(text);
  // An address has no hosts below it.
  if (!host || (wild == "*." && parse_address(*host))) return std::nullopt;
  // A fully qualified name (RFC 1034 3.1) is the same host.
  while (host->ends_with('.')) host->pop_back();  // as in requests
  if (text.empty()) return HostSpec{wild + *host, std::nullopt};
  const auto port = parse_port(text, std::nullopt);
  if (!port || *port == 0) return std::nullopt;
  return HostSpec{wild + *host, *port};
}

bool is_ourselves(const HostPort& peer, const HostPort& listen) {
  if (peer.port != listen.port) return false;
  const auto here = parse_address(listen.host);
  const auto there = parse_address(peer.host);
  if (here && there && *here == *there) return true;
  // The address of a name is not known here. Only the names of loopback mean this machine
  // everywhere.
  if (!here || !names_loopback(peer.host)) return false;
  return is_wildcard(*here) || (peer.host == "localhost" && names_loopback(listen.host));
}

}  // namespace config
