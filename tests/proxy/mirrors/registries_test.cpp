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

std::optional<std::string> path_of(const Registries& registries, const std::string& path,
                                   const std::string& host = "cache.test:3128") {
  return registries.mirror_path(*http::parse_target("GET", path, host));
}

TEST(Registries, AreNoneWithoutTheRecipe) {
  const Registries none{config::MirrorSettings()};
  EXPECT_FALSE(none.any());
  EXPECT_FALSE(path_of(none, "/v2/a/tags/list"));
}

TEST(Registries, AreThoseOfATableLikeTheRecipeAlone) {
  config::MirrorSettings chosen;
  chosen.own_recipes = {{.name = "ours", .hosts = {{"own.example", {}}}, .like = "oci"}};
  const Registries registries(chosen);
  EXPECT_TRUE(registries.any());
  EXPECT_EQ(path_of(registries, "/v2/a/b/tags/list?ns=own.example"),
            "/https/own.example/v2/a/b/tags/list");
  chosen.own_recipes.front().like = "hf";
  EXPECT_FALSE(Registries(chosen).any());
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
  for (const auto& c : cases) EXPECT_EQ(path_of(registries, c.path), c.mirrored) << c.path;
  EXPECT_FALSE(path_of(registries, "/v2/a/other"));
}

// 2.1 and section 3: older Docker, and Ollama, whose names have no room for a registry.
TEST(Registries, AreChosenByHostAndByListener) {
  auto chosen = settings("plain.example");
  chosen.registries = {{{"Models.test", {}}, "Models.example"}, {{"*", 5000}, "port.example:5000"}};
  chosen.listeners = {{{"127.0.0.1", 4000}, "Own.example"},
                      {{"::", 4001}, "all.example"},
                      {{"::", 4002}, "six.example"},
                      {{"0.0.0.0", 4002}, "four.example"},
                      {{"10.0.0.1", 4002}, "one.example"},
                      {{"0.0.0.0", 4003}, "four.example"},
                      {{"2001:db8:0::1", 4004}, "long.example"}};
  const Registries registries(chosen);
  const std::pair<const char*, const char*> hosts[] = {
      {"cache.test:3128", "plain.example"},     {"models.test", "models.example"},
      {"MODELS.test:3128", "models.example"},   {"a.models.test", "plain.example"},
      {"cache.test:5000", "port.example:5000"}, {"models.test:5000", "models.example"},
  };
  for (const auto& [host, registry] : hosts) {
    EXPECT_EQ(path_of(registries, "/v2/library/a/manifests/b", host),
              "/https/" + std::string(registry) + "/v2/library/a/manifests/b")
        << host;
  }
  const std::pair<config::HostPort, const char*> listeners[] = {
      {{"127.0.0.1", 4000}, "own.example"},
      {{"10.0.0.1", 4000}, ""},
      {{"127.0.0.1", 4001}, "all.example"},
      {{"127.0.0.1", 3128}, ""},
      {{"2001:db8::1", 4001}, "all.example"},
      {{"::1", 4002}, "six.example"},
      {{"127.0.0.1", 4002}, "four.example"},
      {{"10.0.0.1", 4002}, "one.example"},
      {{"::1", 4003}, ""},
      {{"2001:db8::1", 4004}, "long.example"},
  };
  for (const auto& [address, registry] : listeners)
    EXPECT_EQ(registries.at_listener(address), registry) << address.host;
  // Whoever names a registry gets that one.
  const auto named = *http::parse_target("GET", "/v2/a/b/tags/list?ns=x.example", "models.test");
  EXPECT_EQ(registries.mirror_path(named, "own.example"), "/https/x.example/v2/a/b/tags/list");
  const auto bare = *http::parse_target("GET", "/v2/a/b/tags/list", "models.test");
  EXPECT_EQ(registries.mirror_path(bare, "own.example"), "/https/own.example/v2/a/b/tags/list");
}

// M1: the hosts of other recipes are no registries.
TEST(Registries, AreThoseOfTheRecipeOfTablesLikeItAndOfTheSettings) {
  auto chosen = settings();
  chosen.hosts = {{"own.example", {}}};
  chosen.recipes.push_back("github");
  chosen.own_recipes = {{.name = "like", .hosts = {{"like.example", {}}}, .like = "oci"},
                        {.name = "other", .hosts = {{"other.example", {}}}}};
  const Registries registries(chosen);
  const auto has = [&registries](const std::string& host) {
    return registries.hosts().have(*http::parse_target("GET", "https://" + host + "/v2/"));
  };
  EXPECT_TRUE(has("own.example"));
  EXPECT_TRUE(has("like.example"));
  EXPECT_TRUE(has(recipes::host_of(recipes::registries().front().at)));
  EXPECT_FALSE(has("other.example"));
  EXPECT_FALSE(has(recipes::github().hosts.front().host));
}

// M2: one registry has several names, and a library for repositories in one part.
TEST(Registries, KnowTheNamesOfOne) {
  const Registries registries(settings());
  const auto& first = recipes::registries().front();
  const auto expected = "/https/" + recipes::host_of(first.at) + "/v2/library/a/tags/list";
  EXPECT_EQ(path_of(registries, "/v2/a/tags/list"), expected);
  EXPECT_EQ(path_of(registries, "/v2/library/a/tags/list"), expected);
  for (const auto& registry : recipes::registries()) {
    if (registry.library.empty()) continue;
    const auto host = recipes::host_of(registry.named);
    EXPECT_EQ(path_of(registries, "/v2/a/tags/list?ns=" + host), expected);
    EXPECT_EQ(path_of(registries, "/v2/" + host + "/a/tags/list"), expected);
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
