// The registries of container images that clients may name, and what is asked of which server.
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
  // Of a request whose path is_registry_path(): "/https/REGISTRY/v2/..." for the URL that it means.
  // A registry of several names has one here; a repository in one part is of the library of the
  // registry that has one. Nothing if the path is none of AskedImage, or no recipe was chosen.
  // `of_listener`: the registry of those that name none (at_listener()); empty: the host of the
  // request decides.
  [[nodiscard]] std::optional<std::string> mirror_path(const http::Target& asked,
                                                       std::string_view of_listener = {}) const;
  // Whether at_listener() ever finds one.
  [[nodiscard]] bool any_at_listeners() const { return any_ && !listeners_.empty(); }
  // The registry for clients of our socket at this address; empty: it has none.
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
