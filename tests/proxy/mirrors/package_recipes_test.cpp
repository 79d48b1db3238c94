// The tables of package managers, by what they make of URLs. (policy/recipe_rules_test.cpp has
// those of the others.)
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "proxy/http/host_pattern.hpp"
#include "proxy/http/target.hpp"
#include "proxy/mirrors/mirrored_url.hpp"
#include "proxy/mirrors/path_pattern.hpp"
#include "proxy/mirrors/recipes/recipes.hpp"

namespace proxy::mirrors {
namespace {

using Kind = config::ResponseClass;

const std::string kSha256(64, 'a');
const std::string kTreeHash(40, 'b');

config::RecipeSettings recipe_named(const std::string& name) {
  const auto all = recipes::all_recipes();
  const auto found = std::ranges::find(all, name, &config::RecipeSettings::name);
  EXPECT_NE(found, all.end()) << name;
  return found == all.end() ? config::RecipeSettings() : *found;
}

// The first row of the recipe that matches a URL of its server `place`; null: none.
const config::RuleSettings* row_for(const config::RecipeSettings& recipe, std::size_t place,
                                    const std::string& path) {
  const auto& host = recipe.hosts.empty() ? std::string("a.test") : recipe.hosts.at(place).host;
  const auto url = http::parse_target("GET", "https://" + host + path).value();
  for (const auto& rule : recipe.rules) {
    const auto& text = rule.by_pattern->pattern;
    const auto pattern = PathPattern::parse(http::canonical_path(text));
    const bool fits = text.empty() || (pattern && pattern->match(url.path()));
    if (fits && http::HostPattern(rule.host).matches(url.host(), url.port())) return &rule;
  }
  return nullptr;
}

std::string class_in(const config::RecipeSettings& recipe, std::size_t place,
                     const std::string& path) {
  const auto* const rule = row_for(recipe, place, path);
  if (!rule) return "none";
  const auto& terms = *rule->by_pattern;
  const auto links = terms.text.links.empty() ? "" : " links";
  switch (terms.kind) {
    case Kind::immutable:
      return terms.name == config::StoredUnder::content ? "content" : "immutable";
    case Kind::fresh:
      return "fresh " + std::to_string(rule->min_fresh->count() / 1000) + links;
    case Kind::revalidate:
      return "revalidate";
    case Kind::absent:
      return "absent";
    default:
      return terms.posts ? "pass posts" : "pass";
  }
}

TEST(PackageRecipes, AreTablesThatCanBeRead) {
  std::set<std::string> prefixes;
  for (const auto& recipe : recipes::all_recipes()) {
    EXPECT_TRUE(recipe.prefix.empty() || prefixes.insert(recipe.prefix).second) << recipe.name;
    EXPECT_FALSE(recipe.rules.empty() && recipe.follow.empty()) << recipe.name;
    for (const auto& rule : recipe.rules) {
      const auto& pattern = rule.by_pattern->pattern;
      EXPECT_TRUE(pattern.empty() || PathPattern::parse(pattern)) << rule.name << ' ' << pattern;
    }
  }
}

struct RecipeCase {
  const char* recipe;
  std::size_t place;  // of the server among the recipe's hosts
  std::string path;
  const char* wanted;
};

TEST(PackageRecipes, TellFilesThatLastFromIndexesThatChange) {
  const RecipeCase cases[] = {
      {"pypi", 0, "/simple/", "pass"},
      {"pypi", 0, "/simple/torch/", "fresh 600 links"},
      {"pypi", 0, "/pypi/torch/json", "fresh 600 links"},
      {"pypi", 0, "/legacy/", "pass"},
      {"pypi", 1, "/packages/aa/bb/cc/t-2%2Bcu121.whl", "immutable"},
      {"pypi", 1, "/packages/aa/bb/cc/t-2.whl.metadata", "immutable"},
      {"pypi", 2, "/whl/cu121/torch/", "fresh 600 links"},
      {"pypi", 2, "/whl/cu121/torch-2.4.0%2Bcu121.whl", "immutable"},
      {"pypi", 4, "/nvidia-cublas/", "fresh 600 links"},
      {"npm", 0, "/react", "fresh 300 links"},
      {"npm", 0, "/@s/p", "fresh 300 links"},
      {"npm", 0, "/@s%2fp", "fresh 300 links"},
      {"npm", 0, "/@s%2fp/latest", "fresh 300 links"},
      {"npm", 0, "/react/latest", "fresh 300 links"},
      {"npm", 0, "/react/-/react-1.0.0.tgz", "immutable"},
      {"npm", 0, "/@s/p/-/p-1.0.0.tgz", "immutable"},
      {"npm", 0, "/@s%2Fp/-/p-1.0.0.tgz", "immutable"},
      {"npm", 0, "/-/npm/v1/security/advisories/bulk", "pass posts"},
      {"npm", 0, "/-/npm/v1/keys", "pass"},
      {"npm", 0, "/-/v1/search?text=a", "pass"},
      {"npm", 0, "/-/whoami", "absent"},
      {"npm", 0, "/-/user/org.couchdb.user:a", "absent"},
      {"npm", 0, "/react?write=true", "pass"},
      {"cargo", 0, "/ab/cd/abcd", "fresh 60"},
      {"cargo", 0, "/1/a", "fresh 60"},
      {"cargo", 1, "/crates/serde/1.0.0/download", "immutable"},
      {"cargo", 1, "/crates/serde/serde-1.0.0.crate", "immutable"},
      {"rustup", 0, "/dist/2026-11-01/rust-1.crate.tar.xz", "immutable"},
      {"rustup", 0, "/dist/channel-rust-stable.toml.sha256", "revalidate"},
      {"go", 0, "/m.test/!a/@v/v1.2.3.zip", "immutable"},
      {"go", 0, "/m.test/a/@v/v0.0.0-20260101000000-abcdefabcdef.info", "immutable"},
      {"go", 0, "/m.test/a/@v/v2.0.0+incompatible.mod", "immutable"},
      {"go", 0, "/m.test/a/@v/v1.2.info", "fresh 60"},
      {"go", 0, "/m.test/a/@v/v1.2.3.4.info", "fresh 60"},
      {"go", 0, "/m.test/a/@v/main.info", "fresh 60"},
      {"go", 0, "/m.test/a/@v/list", "fresh 60"},
      {"go", 0, "/m.test/a/@latest", "fresh 60"},
      {"go", 0, "/sumdb/s.test/tile/8/0/001.p/7", "immutable"},
      {"go", 0, "/sumdb/s.test/latest", "pass"},
      {"maven", 0, "/maven2/g/a/1.0/a-1.0.jar", "immutable"},
      {"maven", 0, "/maven2/g/a/1.0/a-1.0.pom.sha1", "immutable"},
      {"maven", 0, "/maven2/g/a/1-SNAPSHOT/a-1-SNAPSHOT.jar", "revalidate"},
      {"maven", 0, "/maven2/g/a/1-SNAPSHOT/a-1-20260101.1-1.jar", "immutable"},
      {"maven", 0, "/maven2/g/a/1-SNAPSHOT/maven-metadata.xml.sha1", "revalidate"},
      {"conda", 0, "/c/noarch/current_repodata.json", "fresh 30"},
      {"conda", 0, "/c/noarch/repodata.json.zst", "fresh 30"},
      {"conda", 0, "/c/shards/" + kSha256 + ".msgpack.zst", "content"},
      {"conda", 0, "/c/noarch/a-1-0.conda", "immutable"},
      {"nix", 0, "/nar/a.nar.xz?hash=1", "immutable"},
      {"nix", 0, "/a.narinfo", "fresh 2592000"},
      {"gem", 0, "/versions", "revalidate"},
      {"gem", 0, "/info/rails", "revalidate"},
      {"gem", 0, "/gems/rails-1.gem", "immutable"},
      {"composer", 0, "/p2/a/b~dev.json", "fresh 60 links"},
      {"composer", 1, "/repos/a/b/zipball/" + kTreeHash, "fresh 2592000"},
      {"nuget", 0, "/v3/index.json", "fresh 60 links"},
      {"nuget", 0, "/v3-flatcontainer/a/1.0.0/a.1.0.0.nupkg", "immutable"},
      {"nuget", 0, "/v3-flatcontainer/a/index.json", "fresh 60"},
      {"hex", 0, "/packages/a", "revalidate"},
      {"hex", 0, "/tarballs/a-1.0.0.tar", "immutable"},
      {"pub", 0, "/api/packages/a", "fresh 60 links"},
      {"pub", 0, "/api/archives/a-1.0.0.tar.gz", "immutable"},
      {"cran", 0, "/src/contrib/PACKAGES.rds", "revalidate"},
      {"cran", 0, "/src/contrib/a_1.0.tar.gz", "immutable"},
      {"cran", 0, "/src/contrib/Archive/a/a_1.0.tar.gz", "immutable"},
      {"julia", 0, "/registries.eager", "fresh 60"},
      {"julia", 0, "/registries", "fresh 60"},
      {"julia", 0, "/package/u-1/" + kTreeHash, "immutable"},
      {"helm", 0, "/charts/index.yaml", "revalidate"},
      {"helm", 0, "/charts/a-1.tgz", "none"},
      {"homebrew", 0, "/api/formula.jws.json", "revalidate"},
      {"node", 0, "/dist/index.tab", "fresh 300"},
      {"node", 0, "/dist/v22.1.0/node.tar.xz", "immutable"},
      {"node", 0, "/dist/latest-v22.x/SHASUMS256.txt", "fresh 300"},
      {"playwright", 0, "/builds/chromium/1200/chromium-linux.zip", "immutable"},
      {"alpine", 0, "/alpine/v3.20/main/x86_64/APKINDEX.tar.gz", "revalidate"},
      {"alpine", 0, "/alpine/v3.20/main/x86_64/a-1.apk", "immutable"},
      {"arch", 0, "/core/os/x86_64/core.db.sig", "revalidate"},
      {"arch", 0, "/core/os/x86_64/a-1.pkg.tar.zst.sig", "immutable"},
      {"opensuse", 0, "/t/repodata/" + kSha256 + "-primary.xml.gz", "content"},
      {"opensuse", 0, "/t/repodata/repomd.xml", "revalidate"},
      {"opensuse", 0, "/t/x86_64/a-1.rpm", "immutable"},
      {"flatpak", 0, "/repo/summary.sig", "revalidate"},
      {"flatpak", 0, "/repo/objects/aa/bb.filez", "immutable"},
      {"opam", 0, "/cache/sha256/aa/" + kSha256, "content"},
      {"opam", 0, "/index.tar.gz", "revalidate"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(class_in(recipe_named(c.recipe), c.place, c.path), c.wanted) << c.recipe << c.path;
}

TEST(PackageRecipes, TellClientsWhereTheirFilesAre) {
  const auto made = [](const char* name, const char* path) {
    return row_for(recipe_named(name), 0, path)->by_pattern->text.made;
  };
  EXPECT_TRUE(
      made("cargo", "/config.json").starts_with("{\"dl\":\"{base}/sha256/{sha256-checksum}/"));
  EXPECT_TRUE(
      made("composer", "/packages.json").starts_with("{\"metadata-url\":\"{base}/composer/p2/"));
}

}  // namespace
}  // namespace proxy::mirrors
