// Packages of systems, and downloads of tools: an index that is validated, and files that a version
// in their name keeps as they are. Their clients ask by /https/HOST/PATH.
#include "proxy/mirrors/recipes/recipes.hpp"

namespace proxy::mirrors::recipes {
namespace {

using namespace std::chrono_literals;
using Kind = config::ResponseClass;
constexpr auto kStoredByContent = config::StoredUnder::content;
constexpr auto kMonthOfPaths = 30 * 24h;

constexpr Row system_index(std::string_view name, std::string_view pattern) {
  return {name, kAnyHost, pattern, Kind::revalidate, 0s, 10s};
}

constexpr Row system_file(std::string_view name, std::string_view pattern) {
  return {name, kAnyHost, pattern, Kind::immutable, 0s, 10s};
}

constexpr Row system_other(std::string_view name) {
  return {name, kAnyHost, "", Kind::pass};
}

constexpr Upstream kAlpine[] = {{"alpinelinux.org", "dl-cdn"}};
constexpr Row kAlpineRows[] = {
    system_file("alpine-package", "/**/*.apk"),
    system_index("alpine-index", "/**"),
    system_other("alpine-other"),
};

constexpr Upstream kArch[] = {{"pkgbuild.com", "geo.mirror"}};
constexpr Row kArchRows[] = {
    system_file("arch-package", "/**/*.pkg.tar.*"),
    system_index("arch-index", "/**"),
    system_other("arch-other"),
};

constexpr Upstream kOpensuse[] = {{"opensuse.org", "cdn"}};
constexpr Row kOpensuseRows[] = {
    {"opensuse-metadata", kAnyHost, "/**/repodata/{sha256}-*", Kind::immutable, 0s, 0s,
     kStoredByContent},
    {"opensuse-metadata", kAnyHost, "/**/repodata/{sha512}-*", Kind::immutable, 0s, 0s,
     kStoredByContent},
    system_file("opensuse-package", "/**/*.rpm"),
    system_index("opensuse-index", "/**"),
    system_other("opensuse-other"),
};

// The summary and its signature are validated each time, so that they are of one time.
constexpr Upstream kFlatpak[] = {{"flathub.org", "dl"}};
constexpr Row kFlatpakRows[] = {
    system_file("flatpak-object", "/**/objects/**"),
    system_file("flatpak-object", "/**/deltas/**"),
    system_index("flatpak-index", "/**"),
    system_other("flatpak-other"),
};

constexpr Upstream kOpam[] = {{"ocaml.org", "opam"}};
constexpr Row kOpamRows[] = {
    {"opam-file", kAnyHost, "/cache/sha256/*/{sha256}", Kind::immutable, 0s, 10s, kStoredByContent},
    {"opam-file", kAnyHost, "/cache/sha512/*/{sha512}", Kind::immutable, 0s, 10s, kStoredByContent},
    {"opam-file", kAnyHost, "/cache/md5/*/{hex32}", Kind::immutable, 0s, 10s},
    system_index("opam-index", "/**"),
    system_other("opam-other"),
};

// A path that a client has not found stays away for an hour, as clients remember that.
constexpr Upstream kNix[] = {{"nixos.org", "cache"}};
constexpr Row kNixRows[] = {
    {"nix-info", kAnyHost, "/nix-cache-info", Kind::fresh, 1h},
    {"nix-path", kAnyHost, "/*.narinfo", Kind::fresh, kMonthOfPaths, 60s},
    {"nix-path", kAnyHost, "/*.ls", Kind::fresh, kMonthOfPaths, 60s},
    {"nix-file", kAnyHost, "/nar/**?*", Kind::immutable, 0s, 60s},
    system_other("nix-other"),
};

constexpr Upstream kBrew[] = {{"brew.sh", "formulae"}};
constexpr Row kBrewRows[] = {
    {"homebrew-index", kAnyHost, "/api/**", Kind::revalidate, 0s, 10s},
    system_other("homebrew-other"),
};

constexpr Upstream kNode[] = {{"nodejs.org"}};
constexpr Row kNodeRows[] = {
    system_file("node-file", "/dist/v{num}.{num}.{num}/**"),
    system_file("node-file", "/download/release/v{num}.{num}.{num}/**"),
    {"node-index", kAnyHost, "/dist/**", Kind::fresh, 300s, 10s},
    {"node-index", kAnyHost, "/download/**", Kind::fresh, 300s, 10s},
    system_other("node-other"),
};

// Browsers and programs for tests: the path of each has its build or its version.
constexpr Upstream kPlaywright[] = {{"playwright.dev", "cdn"}};
constexpr Row kPlaywrightRows[] = {
    system_file("playwright-file", "/**/builds/**"),
    system_file("playwright-file", "/dbazure/download/playwright/**"),
    system_other("playwright-other"),
};
constexpr Upstream kCypress[] = {{"cypress.io", "download"}, {"cypress.io", "cdn"}};
constexpr Row kCypressRows[] = {
    system_file("cypress-file", "/desktop/{num}.{num}.{num}?*"),
    system_file("cypress-file", "/desktop/{num}.{num}.{num}/**"),
    system_other("cypress-other"),
};

// Charts of any server: the index leads to them by relative links, or past the mirror.
constexpr Row kHelmRows[] = {
    system_index("helm-index", "/**/index.yaml"),
};

struct System {
  std::string_view name;
  std::span<const Upstream> hosts;  // empty: all that are mirrored
  std::span<const Row> rows;
};
constexpr System kSystems[] = {
    {"alpine", kAlpine, kAlpineRows},
    {"arch", kArch, kArchRows},
    {"cypress", kCypress, kCypressRows},
    {"flatpak", kFlatpak, kFlatpakRows},
    {"helm", {}, kHelmRows},
    {"homebrew", kBrew, kBrewRows},
    {"playwright", kPlaywright, kPlaywrightRows},
    {"nix", kNix, kNixRows},
    {"node", kNode, kNodeRows},
    {"opam", kOpam, kOpamRows},
    {"opensuse", kOpensuse, kOpensuseRows},
};

}  // namespace

std::vector<config::RecipeSettings> systems() {
  std::vector<config::RecipeSettings> all;
  for (const auto& one : kSystems) {
    config::RecipeSettings recipe{
        .name = std::string(one.name), .hosts = hosts_of(one.hosts), .rules = rules_of(one.rows)};
    if (!one.hosts.empty()) {
      recipe.prefix = '/' + recipe.name + '/';
      recipe.to = server_of(one.hosts.front());
    }
    all.push_back(std::move(recipe));
  }
  return all;
}

}  // namespace proxy::mirrors::recipes
