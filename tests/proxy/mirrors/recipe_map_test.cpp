#include "proxy/mirrors/recipe_map.hpp"

#include <gtest/gtest.h>

#include "config/endpoint.hpp"

namespace proxy::mirrors {
namespace {

using NamedBy = config::RecipeSettings::NamedBy;

config::HostSpec host(const char* text) {
  return *config::parse_host_pattern(text);
}

std::vector<config::RecipeSettings> recipes() {
  return {{.name = "models", .prefix = "/models/", .to = "https://m.test:8443", .hosts = {}},
          {.name = "depots", .named_by = NamedBy::host, .hosts = {host("*.depots.test")}},
          {.name = "updates",
           .named_by = NamedBy::query,
           .parameter = "from",
           .hosts = {host("u.test")}}};
}

// The URL that the request means; "": none; "400": one that may not be asked for; "403": it names a
// host that it may not name.
std::string url_of(const std::string& path, const std::string& host = "cache") {
  const RecipeMap map(recipes());
  const auto mirrored = map.mirror_path(*http::parse_target("GET", path, host));
  if (!mirrored) return "";
  const auto url = mirrored_url(mirrored->path);
  if (!url) return "400";
  return mirrored->hosts && !mirrored->hosts->have(*url) ? "403" : url->url();
}

TEST(RecipeMap, MakesAUrlOfAPrefixAParameterOrAHost) {
  const struct {
    const char* path;
    const char* host;
    const char* url;
  } cases[] = {
      {"/models/a/b?c", "cache", "https://m.test:8443/a/b?c"},
      {"/models/", "cache", "https://m.test:8443/"},
      {"/models", "cache", ""},
      {"/models/../x", "cache", "400"},
      {"/models/a%2fb", "cache", "https://m.test:8443/a%2Fb"},  // the policy judges it
      {"/https/h.test/a", "cache", "https://h.test/a"},
      {"/sha256/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/https/h.test/a",
       "cache", "https://h.test/a"},
      {"/sha256/aa/https/h.test/a", "cache", ""},
      {"/a?x=1&from=u.test&y", "cache", "http://u.test/a?x=1&from=u.test&y"},
      {"/a?from=other.test", "cache", "403"},
      {"/a?from=c1.depots.test", "cache", "403"},
      {"/a?from=u.test&from=v.test", "cache", ""},
      {"/a?from=", "cache", ""},
      {"/a?from=u.test/b", "cache", ""},
      {"/a?from=me@u.test", "cache", ""},
      {"/a?xfrom=u.test", "cache", ""},
      {"/../a?from=u.test", "cache", "400"},
      {"/depot/1?x", "c1.depots.test", "http://c1.depots.test/depot/1?x"},
      {"/depot/1?x", "C1.Depots.Test.:80", "http://c1.depots.test/depot/1?x"},
      {"/depot/1?x", "c1.depots.test:81", ""},
      {"/depot/1?x", "a.c1.depots.test", ""},
      {"/depot/1", "", ""},
      {"/digest", "cache", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(url_of(c.path, c.host), c.url) << c.path << ' ' << c.host;
}

// 2.1: other pages of a registry's API are none of a mirror, but its own form of a name has a
// place.
TEST(RecipeMap, HasNoOtherPagesOfARegistry) {
  config::MirrorSettings settings;
  settings.recipes = {"oci"};
  const RecipeMap map(chosen_recipes(settings), Registries(settings));
  const auto meant = [&map](const char* path) {
    return map.mirror_path(*http::parse_target("GET", path, "cache"));
  };
  for (const char* path : {"/v2/_catalog", "/v2/a/blobs/uploads/", "/v2/a/b?c=/manifests/d"}) {
    EXPECT_TRUE(meant(path)->is_absent) << path;
    EXPECT_EQ(meant(path)->path, "") << path;
  }
  for (const char* path : {"/v2/a/blobs/sha256:12", "/v2/../manifests/v1"}) {
    EXPECT_FALSE(meant(path)->is_absent) << path;
    EXPECT_EQ(meant(path)->path, "") << path;
  }
  EXPECT_FALSE(meant("/v2/"));
  EXPECT_EQ(meant("/v2/a/manifests/v1")->hosts, &map.registries().hosts());
}

TEST(RecipeMap, NamesTheHostsOfATableAsClientsOfTheRecipeThatItIsLike) {
  config::MirrorSettings settings;
  settings.own_recipes = {
      {.name = "own", .hosts = {host("u.test")}, .like = "windows"},
      {.name = "hub", .prefix = "/hub/", .to = "http://h.test", .like = "windows"}};
  settings.recipes = {"windows"};
  const RecipeMap map(chosen_recipes(settings));
  const auto may_name = [&map](const std::string& server) {
    const auto path = "/files/1?cacheHostOrigin=" + server;
    const auto mirrored = map.mirror_path(*http::parse_target("GET", path, "cache"));
    return mirrored->hosts->have(*mirrored_url(mirrored->path));
  };
  EXPECT_TRUE(may_name("u.test"));
  EXPECT_TRUE(may_name("a.windowsupdate.com"));
  EXPECT_FALSE(may_name("h.test"));
}

// M1: clients of https recipes would take what came over http for the same.
TEST(RecipeMap, HasTheHostsOfOurRecipesByHttpsAlone) {
  config::MirrorSettings settings;
  settings.recipes = {"github", "steam"};
  const auto hosts = mirrored_hosts(settings);
  const auto chosen = chosen_recipes(settings);
  const auto has = [&](const std::string& url) {
    return hosts.have(*http::parse_target("GET", url));
  };
  const auto& site = chosen.front().hosts.front().host;
  EXPECT_TRUE(has("https://" + site + "/"));
  EXPECT_FALSE(has("http://" + site + "/"));
  EXPECT_TRUE(has("http://a" + chosen.back().hosts.front().host.substr(1) + "/"));
}

TEST(RecipeMap, LetsAParameterNameTheHostsOfTheSettingsToo) {
  const RecipeMap map(recipes(), {}, {host("own.test")});
  const auto meant = map.mirror_path(*http::parse_target("GET", "/a?from=own.test", "cache"));
  EXPECT_TRUE(meant->hosts->have(*mirrored_url(meant->path)));
}

TEST(RecipeMap, IsOfTheRecipesThatTheSettingsName) {
  config::MirrorSettings settings;
  EXPECT_TRUE(chosen_recipes(settings).empty());
  settings.recipes = {"github"};
  settings.own_recipes = {{.name = "own"}};
  const auto chosen = chosen_recipes(settings);
  ASSERT_EQ(chosen.size(), 2U);
  EXPECT_EQ(chosen[0].name, "own");
  EXPECT_EQ(chosen[1].name, "github");
  settings.recipes = {"default"};
  EXPECT_GT(chosen_recipes(settings).size(), 1U);
  settings.recipes = {"gihub"};
  EXPECT_THROW(chosen_recipes(settings), std::runtime_error);
}

TEST(RecipeMap, LetsRequestsNameTheHostsOfRecipesToo) {
  config::MirrorSettings settings;
  settings.hosts = {host("a.test")};
  settings.own_recipes = recipes();
  const auto hosts = mirrored_hosts(settings);
  const auto have = [&](const char* url) { return hosts.have(*http::parse_target("GET", url)); };
  for (const char* url : {"https://a.test/", "http://c1.depots.test/", "http://u.test/"})
    EXPECT_TRUE(have(url)) << url;
  EXPECT_FALSE(have("http://v.test/"));
}

}  // namespace
}  // namespace proxy::mirrors
