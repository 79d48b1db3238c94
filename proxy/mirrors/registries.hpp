// The registries of container images that clients may name, and the server to ask for each request.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "proxy/http/host_pattern.hpp"
#include "proxy/http/target.hpp"
#include "proxy/mirrors/mirrored_url.hpp"

namespace proxy::mirrors {

// Nothing unless the settings choose the recipe "oci", or have a table like it. Immutable.
class Registries {
 public:
  Registries() = default;
  explicit Registries(const config::MirrorSettings& settings);

  [[nodiscard]] bool any() const { return any_; }
  // The registries that clients may name: those of the recipe and of tables like it, and
  // mirrors.hosts.
  [[nodiscard]] const MirroredHosts& hosts() const { return hosts_; }
  // Returns the path "/https/REGISTRY/v2/..." of the URL that the request means, whose own path is
  // an is_registry_path(). If a registry has several names, the path has the same one for all. If a
  // repository's name has one part, it belongs to the registry's library, if there is one. Nothing
  // if the path is none of AskedImage, or no recipe was chosen.
  // `of_listener`: the registry for requests that name none (at_listener()); empty: the host of the
  // request decides.
  [[nodiscard]] std::optional<std::string> mirror_path(const http::Target& asked,
                                                       std::string_view of_listener = {}) const;
  // Whether at_listener() ever finds one.
  [[nodiscard]] bool any_at_listeners() const { return any_ && !listeners_.empty(); }
  // The registry that the settings give to our socket at this address. Empty: they give it none.
  [[nodiscard]] std::string_view at_listener(const config::HostPort& address) const;
  // Whether `realm` may be asked for a token of `registry`: mirrors::may_ask_for_token(), or the
  // recipe names it.
  [[nodiscard]] bool may_ask_for_token(const http::Target& realm,
                                       const http::Target& registry) const;

 private:
  struct AtHost {
    http::HostPattern host;
    std::string registry;
  };

  bool any_ = false;
  std::string default_;  // host[:port]
  MirroredHosts hosts_{std::span<const config::HostSpec>()};
  std::vector<AtHost> at_hosts_;
  std::vector<config::ListenerRegistry> listeners_;
};

}  // namespace proxy::mirrors
