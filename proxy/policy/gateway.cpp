#include "proxy/policy/gateway.hpp"

#include <stdexcept>

#include "proxy/http/host_pattern.hpp"

namespace proxy::policy {
namespace {

std::vector<upstream::Endpoint> endpoints(const std::vector<config::Origin>& origins) {
  std::vector<upstream::Endpoint> servers;
  for (const auto& origin : origins) {
    // The settings name it, so access.deny_to, which is against clients, does not apply.
    servers.push_back({origin.tls, origin.host, origin.port, upstream::NamedBy::configured});
  }
  return servers;
}

// Origins compare the Host field with their own names, mostly without the standard port.
std::string authority(const config::Origin& origin) {
  auto text = config::to_text(config::HostPort{origin.host, origin.port});
  const std::string_view standard = origin.tls ? ":443" : ":80";
  if (text.ends_with(standard)) text.erase(text.size() - standard.size());
  return text;
}

std::optional<KnownUrls> known_urls(const std::string& path) {
  if (path.empty()) return std::nullopt;
  return KnownUrls::of_file(path);
}

}  // namespace

Mapping::Mapping(const config::Reverse& settings, std::shared_ptr<upstream::Origins> live)
    : any_host(settings.host == "*"),
      share(settings.share),
      to(settings.to),
      origins(live ? std::move(live) : std::make_shared<upstream::Origins>(endpoints(settings.to))),
      known(known_urls(settings.known)),
      send_host_(settings.send_host),
      default_host_(authority(settings.to.front())) {}

std::string_view Mapping::host_for(const http::Target& target) const {
  if (!send_host_.empty()) return send_host_;
  // HTTP/1.0 needs no Host; origins with several sites want one all the same.
  return target.host().empty() ? default_host_ : target.authority();
}

Gateway::Gateway(const std::vector<config::Reverse>& settings, const Gateway* before) {
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const auto& item = settings[i];
    const auto at = "reverse[" + std::to_string(i) + "].";
    auto& by_port = mappings_[http::canonical_pattern(item.host)];
    const auto port = item.port.value_or(0);
    // The settings compare hosts as they are written; "[::1]" and "[0::1]" are one only here.
    if (by_port.contains(port)) {
      throw std::runtime_error(at + "host: " + item.host +
                               " is mapped before, in another spelling");
    }
    try {
      by_port.try_emplace(port, item, before ? before->live(item.to) : nullptr);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(at + "known: " + error.what());
    }
  }
}

const Mapping* Gateway::find(std::string_view host, std::uint16_t port) const {
  if (mappings_.empty()) return nullptr;
  // Each look-up takes one step per label, however many mappings there are.
  if (const auto* exact = listed(host, port)) return exact;
  for (auto dot = host.find('.'); dot != host.npos; dot = host.find('.', dot + 1)) {
    if (const auto* wild = listed(host.substr(dot), port)) return wild;
  }
  return listed("", port);
}

const Mapping* Gateway::listed(std::string_view host, std::uint16_t port) const {
  const auto by_port = mappings_.find(host);
  if (by_port == mappings_.end()) return nullptr;
  auto found = by_port->second.find(port);
  // A mapping with the port wins over one for any port (0).
  if (found == by_port->second.end()) found = by_port->second.find(0);
  return found == by_port->second.end() ? nullptr : &found->second;
}

// A reload must not forget which origins rest: the first requests after it would wait for them.
std::shared_ptr<upstream::Origins> Gateway::live(const std::vector<config::Origin>& to) const {
  for (const auto& [host, by_port] : mappings_) {
    for (const auto& [port, mapping] : by_port) {
      if (mapping.to == to) return mapping.origins;
    }
  }
  return nullptr;
}

}  // namespace proxy::policy
