// The recipes that the settings choose, and how their requests name a server. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "proxy/http/target.hpp"
#include "proxy/mirrors/mirrored_url.hpp"
#include "proxy/mirrors/registries.hpp"

namespace proxy::mirrors {

// Returns the site's own recipes, then the recipes of Hearsay that the settings name. A recipe of
// the site that is like one of Hearsay has its rules, for its own servers, but none of its made
// answers. Recipes for all mirrored hosts come last, since a recipe for certain hosts knows them
// better. Throws std::runtime_error with the place in the settings if we have none of a name.
std::vector<config::RecipeSettings> chosen_recipes(const config::MirrorSettings& settings);

// The hosts that requests by mirrors may name: mirrors.hosts, and those of the recipes.
MirroredHosts mirrored_hosts(const config::MirrorSettings& settings);

// What a request for us means.
struct MirrorPath {
  std::string path = {};  // is_mirror_path(); empty: it stands for no URL
  // The hosts that may be named in this way; null: all that are mirrored.
  const MirroredHosts* hosts = nullptr;
  bool is_absent = false;  // a mirror has no such page
};

// How the clients of all recipes name a server. Immutable.
class RecipeMap {
 public:
  // `listed`: mirrors.hosts, which a parameter may name, too.
  explicit RecipeMap(std::span<const config::RecipeSettings> recipes, Registries registries = {},
                     const std::vector<config::HostSpec>& listed = {});

  // Returns the mirror path of a request for us: the request's own path, or the path that a recipe
  // makes of it. Nothing: the request is for no mirror. `asked`: in origin-form, or in
  // absolute-form with our address. `registry`: see Registries::mirror_path(). The result refers to
  // this object.
  [[nodiscard]] std::optional<MirrorPath> mirror_path(const http::Target& asked,
                                                      std::string_view registry = {}) const;
  [[nodiscard]] const Registries& registries() const { return registries_; }

 private:
  struct Prefix {
    std::string prefix;      // "/models/"
    std::string stands_for;  // "/https/models.example.com/"
  };
  struct Parameter {
    std::string begins;  // "name="
    MirroredHosts hosts;
  };
  std::vector<Prefix> prefixes_;
  std::vector<Parameter> parameters_;
  Registries registries_;
  MirroredHosts hosts_;  // whose clients take us for them
};

}  // namespace proxy::mirrors
