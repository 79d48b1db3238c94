#include "proxy/mirrors/registries.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "proxy/mirrors/recipes/recipes.hpp"

namespace proxy::mirrors {
namespace {

config::MirrorSettings settings(std::string registry = "") {
  config::MirrorSettings chosen;
  chosen.recipes = {"oci"};
  chosen.registry = std::move(registry);
  return chosen;
}

TEST(Registries, AreNoneWithoutTheRecipe) {
  const Registries none{config::MirrorSettings()};
  EXPECT_FALSE(none.any());
  EXPECT_FALSE(none.mirror_path("/v2/a/tags/list"));
}

TEST(Registries, MakeAPathOfAUrl) {
  const Registries registries(settings("Own.example:5000"));
  const struct {
    const char* path;
    const char* mirrored;
  } cases[] = {
      {"/v2/a/tags/list?n=1", "/https/own.example:5000/v2/a/tags/list?n=1"},
      {"/v2/other.example/a/b/tags/list", "/https/other.example/v2/a/b/tags/list"},
      {"/v2/a/tags/list?ns=other.example:1", "/https/other.example:1/v2/a/tags/list"},
  };
  for (const auto& c : cases) EXPECT_EQ(registries.mirror_path(c.path), c.mirrored) << c.path;
  EXPECT_FALSE(registries.mirror_path("/v2/a/other"));
}

// M2: one registry has several names, and a library for repositories in one part.
TEST(Registries, KnowTheNamesOfOne) {
  const Registries registries(settings());
  const auto& first = recipes::registries().front();
  const auto expected = "/https/" + recipes::host_of(first.at) + "/v2/library/a/tags/list";
  EXPECT_EQ(registries.mirror_path("/v2/a/tags/list"), expected);
  EXPECT_EQ(registries.mirror_path("/v2/library/a/tags/list"), expected);
  for (const auto& registry : recipes::registries()) {
    if (registry.library.empty()) continue;
    const auto host = recipes::host_of(registry.named);
    EXPECT_EQ(registries.mirror_path("/v2/a/tags/list?ns=" + host), expected);
    EXPECT_EQ(registries.mirror_path("/v2/" + host + "/a/tags/list"), expected);
  }
}

TEST(Registries, NameTheirTokenServers) {  // K2
  const Registries registries(settings());
  // Of one domain, they need no name, and no port is another's.
  const auto all = recipes::registries();
  const auto apart = std::ranges::find_if(all, [](const recipes::Registry& one) {
    return !one.tokens.domain.empty() && one.tokens.domain != one.at.domain;
  });
  ASSERT_NE(apart, all.end());
  const auto registry = *http::parse_target("GET", "https://" + recipes::host_of(apart->at) + "/");
  const auto tokens = recipes::host_of(apart->tokens);
  for (const auto& [realm, may] :
       std::vector<std::pair<std::string, bool>>{{"https://" + tokens + "/token", true},
                                                 {"https://" + tokens + ":8443/token", false},
                                                 {"http://" + tokens + "/token", false},
                                                 {"https://me@" + tokens + "/token", false},
                                                 {"https://other.example/token", false}}) {
    EXPECT_EQ(registries.may_ask_for_token(*http::parse_target("GET", realm), registry), may)
        << realm;
  }
}

}  // namespace
}  // namespace proxy::mirrors
