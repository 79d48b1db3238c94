#include "proxy/policy/gateway.hpp"

#include <algorithm>
#include <stdexcept>

#include "proxy/http/host_pattern.hpp"

namespace proxy {
namespace {

std::vector<upstream::Endpoint> endpoints(const std::vector<config::Origin>& origins) {
  std::vector<upstream::Endpoint> servers;
  for (const auto& origin : origins) {
    servers.push_back({origin.tls, origin.host, origin.port, upstream::Trust::configured});
  }
  return servers;
}

std::string authority(const config::Origin& origin) {
  const bool v6 = origin.host.find(':') != std::string::npos;
  std::string text = v6 ? '[' + origin.host + ']' : origin.host;
  const bool standard = origin.port == (origin.tls ? 443 : 80);
  return standard ? text : text + ':' + std::to_string(origin.port);
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
  return target.host().empty() ? default_host_ : target.authority();
}

Gateway::Gateway(const std::vector<config::Reverse>& settings, const Gateway* before) {
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const auto& item = settings[i];
    const MappedHost place{canonical_pattern(item.host), item.port.value_or(0)};
    const auto at = "reverse[" + std::to_string(i) + "].";
    if (mappings_.contains(place)) {
      throw std::runtime_error(at + "host: " + item.host +
                               " is mapped before, in another spelling");
    }
    try {
      mappings_.try_emplace(place, item, before ? before->live(item.to) : nullptr);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(at + "known: " + error.what());
    }
  }
}

const Mapping* Gateway::find(std::string_view host, std::uint16_t port) const {
  if (mappings_.empty()) return nullptr;
  if (const auto* exact = listed(host, port)) return exact;
  for (auto dot = host.find('.'); dot != host.npos; dot = host.find('.', dot + 1)) {
    if (const auto* wild = listed(host.substr(dot), port)) return wild;
  }
  return listed("", port);
}

const Mapping* Gateway::listed(std::string_view host, std::uint16_t port) const {
  auto found = mappings_.find(MappedHostView{host, port});
  if (found == mappings_.end()) found = mappings_.find(MappedHostView{host, 0});
  return found == mappings_.end() ? nullptr : &found->second;
}

std::shared_ptr<upstream::Origins> Gateway::live(const std::vector<config::Origin>& to) const {
  const auto same = std::find_if(mappings_.begin(), mappings_.end(),
                                 [&to](const auto& mapping) { return mapping.second.to == to; });
  return same == mappings_.end() ? nullptr : same->second.origins;
}

}  // namespace proxy
