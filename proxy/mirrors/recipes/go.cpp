// Modules of Go, and its toolchains, which are modules. A canonical version stays; the name of a
// branch or a tag does not. The clients check what they get by the checksum database, which they
// ask through the same server.
#include "proxy/mirrors/recipes/recipes.hpp"

namespace proxy::mirrors::recipes {
namespace {

using namespace std::chrono_literals;
using Kind = config::ResponseClass;

constexpr Upstream kGoModules{"golang.org", "proxy"};
constexpr Upstream kGoHosts[] = {kGoModules};

constexpr Row go_version(std::string_view pattern) {
  return {"go-version", kAnyHost, pattern, Kind::immutable, 0s, 60s};
}

constexpr Row go_list(std::string_view pattern) {
  return {"go-list", kAnyHost, pattern, Kind::fresh, 60s, 60s};
}

// A file of a version: of a release, of a pre-release or a commit, and one without modules.
constexpr Row kGoRows[] = {
    {"go-sumdb-name", kAnyHost, "/sumdb/*/supported", Kind::fresh, 3600s, 60s},
    {"go-other", kAnyHost, "/sumdb/*/latest", Kind::pass},
    {"go-sumdb", kAnyHost, "/sumdb/*/lookup/**", Kind::immutable, 0s, 60s},
    {"go-sumdb", kAnyHost, "/sumdb/*/tile/**", Kind::immutable, 0s, 60s},
    go_version("/**/@v/v{num}.{num}.{num}.info"),
    go_version("/**/@v/v{num}.{num}.{num}.mod"),
    go_version("/**/@v/v{num}.{num}.{num}.zip"),
    go_version("/**/@v/v{num}.{num}.{num}-*.*"),
    go_version("/**/@v/v{num}.{num}.{num}+*.*"),
    go_list("/**/@v/list"),
    go_list("/**/@v/*.info"),
    go_list("/**/@latest"),
    {"go-other", kAnyHost, "", Kind::pass},
};

}  // namespace

config::RecipeSettings go() {
  return {.name = "go",
          .prefix = "/go/",
          .to = server_of(kGoModules),
          .hosts = hosts_of(kGoHosts),
          .rules = rules_of(kGoRows)};
}

}  // namespace proxy::mirrors::recipes
