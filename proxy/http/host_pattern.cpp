#include "proxy/http/host_pattern.hpp"

#include <algorithm>

namespace proxy::http {

HostPattern::HostPattern(const config::HostSpec& written)
    : host_(canonical_pattern(written.host)),
      exact_(!written.host.starts_with('*')),
      port_(written.port) {}

bool HostPattern::matches(std::string_view host, std::uint16_t port) const {
  if (port_ && *port_ != port) return false;
  if (exact_) return host == host_;
  // "*.example.com" is no pattern for example.com itself, nor for badexample.com.
  return host_.empty() || (host.ends_with(host_) && host.size() > host_.size());
}

std::string HostPattern::text() const {
  const bool v6 = exact_ && host_.find(':') != std::string::npos;
  auto text = v6 ? '[' + host_ + ']' : exact_ ? host_ : '*' + host_;
  if (port_) text += ':' + std::to_string(*port_);
  return text;
}

std::string canonical_pattern(const std::string& host) {
  if (host == "*") return "";
  if (host.starts_with("*.")) return host.substr(1);
  const bool v6 = host.find(':') != std::string::npos;
  // By the parser of requests, so that both have the same spelling of an address or a name.
  const auto target = http::parse_target("GET", "http://" + (v6 ? '[' + host + ']' : host));
  return target ? std::string(target->host()) : host;
}

bool matches_any(std::span<const HostPattern> patterns, const http::Target& target) {
  return std::ranges::any_of(patterns, [&](const HostPattern& pattern) {
    return pattern.matches(target.host(), target.port());
  });
}

std::vector<HostPattern> host_patterns(std::span<const config::HostSpec> written) {
  return {written.begin(), written.end()};
}

PeerHosts::PeerHosts(std::span<const config::PeerSettings> peers) {
  for (const auto& peer : peers) {
    hosts_.push_back({host_patterns(peer.hosts.only), host_patterns(peer.hosts.never)});
  }
}

bool PeerHosts::may_ask(std::size_t peer, const http::Target& target) const {
  const auto& [only, never] = hosts_[peer];
  return (only.empty() || matches_any(only, target)) && !matches_any(never, target);
}

}  // namespace proxy::http
