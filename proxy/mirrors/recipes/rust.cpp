// Crates of Rust, by the sparse index, and its toolchains. The index has the digest of each crate,
// which cargo writes into the URL that the index's configuration tells, so that crates are
// verified.
#include "proxy/mirrors/recipes/recipes.hpp"

namespace proxy::mirrors::recipes {
namespace {

using namespace std::chrono_literals;
using Kind = config::ResponseClass;

constexpr Upstream kCrateIndex{"crates.io", "index"};
constexpr Upstream kCrates{"crates.io", "static"};
constexpr Upstream kCargoHosts[] = {kCrateIndex, kCrates};

// What the configuration tells of the crates.
constexpr std::string_view kCargoLinks[] = {"dl"};

// The first is made in place of the public server's.
constexpr Row kCargo[] = {
    {"cargo-config", kCrateIndex, "/config.json", Kind::fresh, 60s},
    {"cargo-crate", kCrates, "/crates/*/*/download", Kind::immutable, 0s, 10s},
    {"cargo-crate", kCrates, "/crates/*/*.crate", Kind::immutable, 0s, 10s},
    {"cargo-index", kCrateIndex, "/**", Kind::fresh, 60s, 10s},
    {"cargo-other", kAnyHost, "", Kind::pass},
};

constexpr Upstream kToolchainHosts[] = {{"rust-lang.org", "static"}};

// What has a date or a version in its path stays. The rest are the channels, and the newest rustup.
constexpr Row kRustup[] = {
    {"rustup-toolchain", kAnyHost, "/dist/{num}-{num}-{num}/**", Kind::immutable, 0s, 10s},
    {"rustup-archive", kAnyHost, "/rustup/archive/**", Kind::immutable, 0s, 10s},
    {"rustup-channel", kAnyHost, "/**", Kind::revalidate, 0s, 10s},
    {"rustup-other", kAnyHost, "", Kind::pass},
};

}  // namespace

config::RecipeSettings cargo() {
  config::RecipeSettings recipe{.name = "cargo",
                                .prefix = "/cargo/",
                                .to = server_of(kCrateIndex),
                                .hosts = hosts_of(kCargoHosts),
                                .rules = rules_of(kCargo)};
  const auto crate = R"({"dl":"{base}/sha256/{sha256-checksum}/https/)" + host_of(kCrates) +
                     R"(/crates/{crate}/{version}/download","api":null})"
                     "\n";
  recipe.rules.front().by_pattern->text.made = crate;
  set_links(recipe, "cargo-config", kCargoLinks);
  return recipe;
}

config::RecipeSettings rustup() {
  return {.name = "rustup",
          .prefix = "/rustup/",
          .to = server_of(kToolchainHosts[0]),
          .hosts = hosts_of(kToolchainHosts),
          .rules = rules_of(kRustup)};
}

}  // namespace proxy::mirrors::recipes
