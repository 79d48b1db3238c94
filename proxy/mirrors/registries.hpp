// The registries of container images that clients may name, and what is asked of which server.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "config/settings.hpp"
#include "proxy/http/target.hpp"

namespace proxy::mirrors {

// Nothing unless the settings choose the recipe "oci". Immutable.
class Registries {
 public:
  Registries() = default;
  explicit Registries(const config::MirrorSettings& settings);

  [[nodiscard]] bool any() const { return any_; }
  // Of a path that is_registry_path(): "/https/REGISTRY/v2/..." for the URL that it means. A
  // registry of several names has one here; a repository in one part is of the library of the
  // registry that has one. Nothing if the path is none of AskedImage, or no recipe was chosen.
  [[nodiscard]] std::optional<std::string> mirror_path(std::string_view path) const;
  // Whether `realm` may be asked for a token of `registry`: mirrors::may_ask_for_token(), or the
  // recipe names it.
  [[nodiscard]] bool may_ask_for_token(const http::Target& realm,
                                       const http::Target& registry) const;

 private:
  bool any_ = false;
  std::string default_;  // host[:port]
};

}  // namespace proxy::mirrors
