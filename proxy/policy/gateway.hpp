// Reverse mode: finds the mapping of a request, and with it the origins.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "proxy/http/target.hpp"
#include "proxy/policy/known_urls.hpp"
#include "proxy/upstream/route.hpp"

namespace proxy::policy {

// The mapping that one item of the setting `reverse` defines.
struct Mapping {
  // `live`: the state of the origins, if an earlier policy had the same origins; else null. Throws
  // std::runtime_error if the file of known URLs cannot be read.
  explicit Mapping(const config::Reverse& settings,
                   std::shared_ptr<upstream::Origins> live = nullptr);

  const bool any_host;  // "*"
  const bool share;     // neighbours may learn of responses, and be asked
  const std::vector<config::Origin> to;
  const std::shared_ptr<upstream::Origins> origins;  // live: which of `to` rest
  const std::optional<KnownUrls> known;

  // Whether the origin may have the URL: false only if a file of known URLs does not list it.
  bool may_have(const http::Target& target) const { return !known || known->may_have(target); }
  // The Host field for the origin: the setting send_host, else the client's.
  std::string_view host_for(const http::Target& target) const;

 private:
  const std::string send_host_;     // empty: the client's
  const std::string default_host_;  // if a client of HTTP/1.0 named no host
};

// Immutable except for the live state of origins. Any thread. A mapping lives as long as its
// gateway.
class Gateway {
 public:
  // If a mapping of `before` has the same origins, both share the live state of the origins. Throws
  // std::runtime_error with the place in the settings.
  explicit Gateway(const std::vector<config::Reverse>& settings, const Gateway* before = nullptr);

  // The mapping of the host, spelled as http::Target does, and of the port; null if there is none.
  // A name wins over "*.example.com", a longer suffix over a shorter one, and "*" is last. For one
  // host, a mapping with this port wins over a mapping without a port.
  [[nodiscard]] const Mapping* find(std::string_view host, std::uint16_t port) const;

 private:
  [[nodiscard]] const Mapping* listed(std::string_view host, std::uint16_t port) const;
  [[nodiscard]] std::shared_ptr<upstream::Origins> live(
      const std::vector<config::Origin>& to) const;

  // The mappings by host, then by port, of which 0 is any. "*.example.com" is listed as
  // ".example.com", "*" as "".
  std::map<std::string, std::map<std::uint16_t, Mapping>, std::less<>> mappings_;
};

}  // namespace proxy::policy
