// Packages of npm, for npm, pnpm, yarn, bun and deno. The document of a package has two forms,
// which the client's Accept chooses, and names the tarballs, whose digests clients check
// themselves. Nobody signs in or publishes here.
#include "proxy/mirrors/recipes/recipes.hpp"

namespace proxy::mirrors::recipes {
namespace {

using namespace std::chrono_literals;
using Kind = config::ResponseClass;

constexpr Upstream kNpmRegistry{"npmjs.org", "registry"};
constexpr Upstream kNpmHosts[] = {kNpmRegistry};

constexpr std::string_view kNpmLinks[] = {"dist.tarball"};

constexpr Row npm_package(std::string_view pattern, bool slashes = false) {
  return {.name = "npm-package",
          .at = kAnyHost,
          .pattern = pattern,
          .kind = Kind::fresh,
          .fresh = 300s,
          .negative = 10s,
          .slashes = slashes};
}

constexpr Row npm_tarball(std::string_view pattern, bool slashes = false) {
  return {.name = "npm-tarball",
          .at = kAnyHost,
          .pattern = pattern,
          .kind = Kind::immutable,
          .negative = 10s,
          .slashes = slashes};
}

constexpr Row npm_other(std::string_view pattern, bool posts = false) {
  return {
      .name = "npm-other", .at = kAnyHost, .pattern = pattern, .kind = Kind::pass, .posts = posts};
}

// Some clients encode the slash of a scope.
constexpr Row kNpmRows[] = {
    {"npm-sign-in", kAnyHost, "/-/user/**?*", Kind::absent},
    {"npm-sign-in", kAnyHost, "/-/whoami", Kind::absent},
    {"npm-sign-in", kAnyHost, "/-/v1/login?*", Kind::absent},
    {"npm-sign-in", kAnyHost, "/-/npm/v1/user?*", Kind::absent},
    {"npm-sign-in", kAnyHost, "/-/npm/v1/tokens/**?*", Kind::absent},
    npm_other("/-/npm/v1/security/**", true),
    npm_other("/-/**?*"),
    npm_tarball("/@*%2F*/-/*.tgz", true),
    npm_tarball("/@*/*/-/*.tgz"),
    npm_tarball("/*/-/*.tgz"),
    npm_package("/@*%2F*", true),
    npm_package("/@*%2F*/*", true),
    npm_package("/@*/*"),
    npm_package("/@*/*/*"),
    npm_package("/*"),
    npm_package("/*/*"),
    npm_other(""),
};

}  // namespace

config::RecipeSettings npm() {
  config::RecipeSettings recipe{.name = "npm",
                                .prefix = "/npm/",
                                .to = server_of(kNpmRegistry),
                                .hosts = hosts_of(kNpmHosts),
                                .rules = rules_of(kNpmRows)};
  set_links(recipe, "npm-package", kNpmLinks);
  return recipe;
}

}  // namespace proxy::mirrors::recipes
