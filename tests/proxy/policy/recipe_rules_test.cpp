// The rules of our recipes, by what they make of URLs.
#include <gtest/gtest.h>

#include <algorithm>

#include "proxy/mirrors/recipes/recipes.hpp"
#include "proxy/policy/site_rules.hpp"

namespace proxy::policy {
namespace {

using namespace std::chrono_literals;

SiteRules rules_with(std::vector<config::HostSpec> hosts) {
  config::MirrorSettings settings;
  settings.hosts = std::move(hosts);
  settings.recipes = {"default"};
  return {{}, settings};
}

http::Target target_of(const std::string& text) {
  return http::parse_target("GET", text).value();
}

// The host at this place in the recipe, with a label for "*".
std::string host_in(const config::RecipeSettings& recipe, std::size_t place) {
  const auto text = recipe.hosts.at(place).host;
  return text.starts_with('*') ? 'x' + text.substr(1) : text;
}

// "immutable", "fresh 60", "revalidate", "pass" or "told"; "none": no rule.
std::string class_of(const SiteRule* rule) {
  if (!rule) return "none";
  cache::RequestFacts facts;
  rule->apply_to(facts);
  if (facts.never_store) return "pass";
  if (!facts.freshness.by_class) return "told";
  if (facts.immutable) return "immutable";
  if (facts.freshness.most == 0s) return "revalidate";
  return "fresh " + std::to_string(facts.freshness.least.count());
}

bool contains_any(const std::string& text, std::initializer_list<const char*> words) {
  return std::ranges::any_of(words, [&](const char* word) { return text.find(word) != text.npos; });
}

const std::string kCommitDigits(40, 'c');

TEST(RecipeRules, OfGitHubTellWhatMayBeReplaced) {
  const auto rules = rules_with({});
  const auto recipe = mirrors::recipes::github();
  const auto site = host_in(recipe, 0) + "/o/r/";
  const auto archives = host_in(recipe, 1) + "/o/r/";
  const auto raw = host_in(recipe, 2) + "/o/r/";
  const std::pair<std::string, std::string> cases[] = {
      {site + "releases/download/v1/a.tar.gz", "fresh 86400"},
      {site + "releases/download/a/b/a.tar.gz", "fresh 86400"},
      {site + "releases/latest/download/a.tar.gz", "fresh 60"},
      {site + "releases/download/v1/a.deb", "fresh 86400"},
      {site + "raw/" + kCommitDigits + "/Packages", "immutable"},
      {site + "releases/latest", "pass"},
      {site + "releases/download/v1/a.tar.gz?x=1", "pass"},
      {site + "archive/" + kCommitDigits + ".tar.gz", "fresh 2592000"},
      {site + "archive/refs/tags/v1.tar.gz", "revalidate"},
      {site + "archive/main.zip", "revalidate"},
      {site + "raw/" + kCommitDigits + "/a", "immutable"},
      {site + "raw/main/a", "fresh 300"},
      {host_in(recipe, 0) + "/o", "pass"},
      {archives + "tar.gz/" + kCommitDigits, "fresh 2592000"},
      {archives + "tar.gz/refs/heads/main", "revalidate"},
      {raw + "" + kCommitDigits + "/a/b", "immutable"},
      {raw + "main/a/b", "fresh 300"},
      {host_in(recipe, 3) + "/repos/o/r/releases", "pass"},
      {recipe.follow.at(0).host + "/x", "none"},
      {"a.test/o/r/archive/main.zip", "none"},
  };
  for (const auto& [text, wanted] : cases)
    EXPECT_EQ(class_of(rules.find(target_of("https://" + text))), wanted) << text;
}

TEST(RecipeRules, OfAHubLikeOursTellCommitsFromNames) {
  config::MirrorSettings settings;
  settings.own_recipes = {{.name = "hub", .hosts = {{"h.test", {}}}, .like = "hf"}};
  const SiteRules rules({}, settings);
  const std::pair<std::string, std::string> cases[] = {
      {"/o/r/resolve/" + kCommitDigits + "/a/b.bin?download=true", "immutable"},
      {"/o/r/resolve/main/a.bin", "revalidate"},
      {"/o/r/resolve/main/resolve/" + kCommitDigits + "/a.bin", "revalidate"},
      {"/o/r/resolve/" + kCommitDigits + "0/a.bin", "revalidate"},
      {"/o/r/resolve/refs%2Fpr%2F1/a.bin", "revalidate"},
      {"/r/resolve/" + kCommitDigits + "/a.bin", "immutable"},
      {"/datasets/o/r/raw/" + kCommitDigits + "/a.csv", "immutable"},
      {"/datasets/o/r/resolve/main/a.csv", "revalidate"},
      {"/spaces/o/r/resolve/main/app.py", "revalidate"},
      {"/o/r/blob/main/a.bin", "pass"},
      {"/api/models/o/r", "fresh 60"},
      {"/api/models/o/r/revision/main", "fresh 60"},
      {"/api/models/o/r/revision/" + kCommitDigits + "?blobs=true", "immutable"},
      {"/api/datasets/o/r/tree/main?recursive=true", "fresh 60"},
      {"/api/datasets/o/r/tree/" + kCommitDigits + "/a/b?expand=true&cursor=c", "immutable"},
      {"/api/models?search=a", "pass"},
      {"/api/whoami-v2", "pass"},
      {"/", "pass"},
  };
  for (const auto& [path, wanted] : cases) {
    const auto* const rule = rules.find(target_of("https://h.test" + path));
    EXPECT_EQ(class_of(rule), wanted) << path;
    const bool lists = path.starts_with("/api/");
    EXPECT_EQ(!rule->text().drop_members.empty(), lists) << path;
    EXPECT_TRUE(rule->hides_denied()) << path;
    const bool is_of_revision = contains_any(path, {"/resolve/", "/raw/", "/tree/", "/revision/"});
    EXPECT_EQ(rule->allows_slashes(), is_of_revision) << path;
  }
  const auto* const paths = rules.find(target_of("https://h.test/api/models/o/r/paths-info/main"));
  EXPECT_TRUE(paths->allows_post() && !paths->text().drop_members.empty());
  const auto* const token =
      rules.find(target_of("https://h.test/api/models/o/r/xet-read-token/main"));
  EXPECT_EQ(token->response_class(), config::ResponseClass::absent);
  EXPECT_EQ(rules.find(target_of("https://other.test/o/r/resolve/main/a.bin")), nullptr);
}

// "class content", of a URL without its scheme.
std::string told_of(const SiteRules& rules, const std::string& text) {
  const auto target = target_of("https://" + text);
  const auto* const rule = rules.find(target);
  const auto content = rule ? rule->content_name(target) : std::nullopt;
  return class_of(rule) + (content ? ' ' + content->substr(0, 8) : "");
}

TEST(RecipeRules, OfAptAndDnfTrustNamesThatHaveDigests) {
  const auto rows = mirrors::recipes::apt().rules;
  const auto archive = std::ranges::find(rows, "apt-package", &config::RuleSettings::name)->host;
  const auto rules = rules_with({{"a.test", {}}, archive});
  const std::string hex(64, 'a');
  const std::pair<std::string, std::string> cases[] = {
      {"a.test/debian/dists/stable/main/binary-amd64/by-hash/SHA256/" + hex, "immutable sha256:a"},
      {"a.test/by-hash/SHA512/" + hex + hex, "immutable sha512:a"},
      {"a.test/x/by-hash/MD5Sum/" + std::string(32, '1'), "immutable"},
      {"a.test/x/by-hash/SHA256/" + hex.substr(1), "none"},
      {"a.test/debian/dists/stable/InRelease", "revalidate"},
      {"a.test/debian/dists/stable/main/binary-amd64/Packages.xz", "revalidate"},
      {"a.test/flat/Packages.gz", "revalidate"},
      {"a.test/flat/Packages", "revalidate"},
      {"a.test/Sources", "revalidate"},
      {"a.test/flat/Sources.xz", "revalidate"},
      {"a.test/flat/Contents-amd64.gz", "revalidate"},
      {"a.test/flat/Translation-en", "revalidate"},
      {"a.test/flat/a_1_amd64.deb", "revalidate"},
      {"a.test/flat/Packages-2", "none"},
      {"a.test/flat/a_1_amd64.deb?x=1", "pass"},
      {"a.test/debian/dists/stable/InRelease?x=1", "pass"},
      {"a.test/pool/main/a/a/a_1_amd64.deb", "revalidate"},
      {archive.host + "/debian/pool/main/a/a/a_1_amd64.deb", "immutable"},
      {"a.test/fedora/repodata/" + hex + "-primary.xml.zst", "immutable sha256:a"},
      {"a.test/fedora/repodata/repomd.xml", "revalidate"},
      {"a.test/fedora/repodata/repomd.xml.asc", "revalidate"},
      {"a.test/fedora/Packages/b/bash-5.2-1.x86_64.rpm", "immutable"},
      {"a.test/fedora/Packages/b/bash-5.2-1.x86_64.rpm?x", "pass"},
      {"a.test/index.html", "none"},
      {"b.test/fedora/repodata/repomd.xml", "none"},
  };
  for (const auto& [text, wanted] : cases) EXPECT_EQ(told_of(rules, text), wanted) << text;
}

// M6
TEST(RecipeRules, OfRegistriesPassWhatHasAQuery) {
  const auto rules = rules_with({{"a.test", {}}});
  const auto image = "a.test/v2/a/manifests/sha256:" + std::string(64, 'a');
  EXPECT_EQ(told_of(rules, image), "immutable sha256:a");
  EXPECT_EQ(told_of(rules, image + "?x=1"), "pass");
  EXPECT_EQ(told_of(rules, "a.test/v2/a/manifests/v1"), "fresh 60");
  EXPECT_EQ(told_of(rules, "a.test/v2/a/manifests/v1?x=1"), "pass");
  EXPECT_EQ(told_of(rules, "a.test/v2/a/tags/list?n=1"), "revalidate");
}

TEST(RecipeRules, OfAptKnowTheListsThatNameAnIndex) {
  const auto rules = rules_with({{"a.test", {}}});
  const auto lists_of = [&rules](const std::string& path) {
    const auto target = target_of("https://a.test" + path);
    return rules.find(target)->lists_of(target);
  };
  EXPECT_EQ(lists_of("/d/dists/s/Packages.xz"),
            (std::vector<std::string>{"https://a.test/d/dists/s/InRelease",
                                      "https://a.test/d/dists/InRelease",
                                      "https://a.test/d/InRelease", "https://a.test/InRelease"}));
  EXPECT_EQ(lists_of("/Packages"), std::vector<std::string>{"https://a.test/InRelease"});
  EXPECT_TRUE(lists_of("/d/dists/s/InRelease").empty());
}

TEST(RecipeRules, OfSteamAndWindowsNameAFileByItsPath) {
  const auto rules = rules_with({});
  const auto steam = "http://" + host_in(mirrors::recipes::steam(), 0);
  const auto steam_too = "http://" + host_in(mirrors::recipes::steam(), 1);
  const auto windows = mirrors::recipes::windows();
  const std::string chunk = "/depot/1/chunk/" + std::string(40, 'a');
  const struct {
    std::string url;
    std::string told;
    std::string key;
  } cases[] = {
      {steam + chunk + "?token=1", "immutable", "recipe:steam" + chunk},
      {steam_too + chunk, "immutable", "recipe:steam" + chunk},
      {steam + "/depot/1/manifest/2/5/3", "immutable", "recipe:steam/depot/1/manifest/2/5/3"},
      {steam + "/server-status", "pass", steam + "/server-status"},
      {"http://" + host_in(windows, 0) + "/filestreamingservice/files/G?P1=1&P2=2", "immutable",
       "recipe:windows/filestreamingservice/files/G"},
      {"http://" + host_in(windows, 1) + "/filestreamingservice/files/G?P1=3", "immutable",
       "recipe:windows/filestreamingservice/files/G"},
      {"http://" + host_in(windows, 4) + "/mscomtest/wuidt.gif?x=y", "fresh 3600",
       "recipe:windows/mscomtest/wuidt.gif"},
      {"http://" + host_in(windows, 3) + "/msdownload/update/v3/static/trustedr/en/a.cab?1", "pass",
       "http://" + host_in(windows, 3) + "/msdownload/update/v3/static/trustedr/en/a.cab?1"},
      {"http://" + host_in(windows, 2) + "/pr/G/Office/Data/v64.cab", "revalidate",
       "recipe:windows/pr/G/Office/Data/v64.cab"},
  };
  for (const auto& c : cases) {
    const auto* const rule = rules.find(target_of(c.url));
    EXPECT_EQ(class_of(rule), c.told) << c.url;
    EXPECT_EQ(rules.key_url(target_of(c.url)), c.key) << c.url;
  }
}

TEST(RecipeRules, LetRedirectsLeadToTheStorageOfTheRecipeAlone) {
  const auto rules = rules_with({*config::parse_host_pattern("a.test")});
  const auto recipe = mirrors::recipes::github();
  const auto asset = target_of(recipe.to + "/o/r/releases/download/v1/a");
  const auto at_storage = "https://" + recipe.follow.at(0).host;
  const auto storage = target_of(at_storage + "/a?sig=1");
  EXPECT_TRUE(rules.may_follow(asset, storage));
  EXPECT_FALSE(rules.may_follow(target_of("https://a.test/a"), storage));
  EXPECT_FALSE(rules.may_follow(asset, target_of("https://a.test/")));
  EXPECT_FALSE(rules.may_follow(asset, target_of(at_storage + ".evil.test/")));
  EXPECT_FALSE(rules.may_follow(asset, target_of(at_storage + ":8443/")));
}

// A site's own rule for a host leaves the recipe its storage.
TEST(RecipeRules, StandBehindThoseOfTheSettings) {
  config::MirrorSettings settings;
  settings.recipes = {"github"};
  config::RuleSettings own;
  own.name = "own";
  const auto recipe = mirrors::recipes::github();
  own.host = recipe.hosts.at(0);
  own.never_store = true;
  const SiteRules rules({own}, settings);
  const auto asset = target_of(recipe.to + "/o/r/releases/download/v1/a");
  EXPECT_EQ(rules.find(asset)->word(), "rule/own");
  EXPECT_TRUE(rules.may_follow(asset, target_of("https://" + recipe.follow.at(0).host + "/a")));
}

// The table of a recipe has no pattern that is none, or the rule would throw; nor two names alike
// for two classes, which people would mix up.
TEST(RecipeRules, HaveOneClassForEachName) {
  for (const auto& recipe : mirrors::recipes::all_recipes()) {
    std::map<std::string, config::ResponseClass> classes;
    for (const auto& row : recipe.rules) {
      const auto kind = SiteRule(row).response_class();
      EXPECT_EQ(classes.emplace(row.name, kind).first->second, kind) << row.name;
      EXPECT_TRUE(row.name.starts_with(recipe.name + "-")) << row.name;
    }
  }
}

config::RuleSettings rule_by(const config::PatternRule& by_pattern) {
  config::RuleSettings rule;
  rule.name = "r";
  rule.host = {"*", {}};
  rule.by_pattern = by_pattern;
  return rule;
}

TEST(PatternRules, NameAPathForAllHosts) {  // N1
  const SiteRule chunks(rule_by({.pattern = "/depot/*?*", .name = config::StoredUnder::path}));
  EXPECT_EQ(chunks.key_url("http://a.test:81/depot/1?x=1"), "recipe:r/depot/1");
  EXPECT_EQ(chunks.key_url("https://[::1]/depot/1"), "recipe:r+https/depot/1");
  const SiteRule digests(rule_by({.pattern = "/**/{sha256}"}));
  const std::string hex(64, 'B');
  EXPECT_EQ(digests.content_name(target_of("http://a.test/x/" + hex)),
            "sha256:" + http::lower(hex));
  EXPECT_EQ(digests.content_name(target_of("http://a.test/x/" + hex + "0")), std::nullopt);
  EXPECT_EQ(digests.key_url("http://a.test/x"), "http://a.test/x");
  EXPECT_EQ(chunks.content_name(target_of("http://a.test/depot/1")), std::nullopt);
}

TEST(PatternRules, ThrowForWhatIsNoPattern) {
  EXPECT_THROW(SiteRule(rule_by({.pattern = "/{sha1}"})), std::runtime_error);
}

// C6
TEST(PatternRules, KeepNothingThatWasAskedForWithACredential) {
  const SiteRule files(rule_by({.kind = config::ResponseClass::immutable}));
  for (const char* line : {"Authorization: Bearer x\r\n", "Cookie: a=b\r\n", ""}) {
    const auto text = "GET /a HTTP/1.1\r\nHost: a\r\n" + std::string(line) + "\r\n";
    http::RequestHead head;
    ASSERT_TRUE(http::parse_request_head(text, {}, head));
    cache::RequestFacts facts(head);
    files.apply_to(facts);
    EXPECT_EQ(facts.never_store, *line != '\0') << line;
  }
}

TEST(PatternRules, MeanTheSameToNeighboursByTheirClassAndTime) {
  auto plain = rule_by({});
  plain.min_fresh = 60s;
  auto fresh = rule_by({.kind = config::ResponseClass::fresh});
  fresh.min_fresh = 60s;
  EXPECT_NE(shared_meaning(plain), shared_meaning(fresh));
  EXPECT_NE(shared_meaning(fresh),
            shared_meaning(rule_by({.kind = config::ResponseClass::immutable})));
  EXPECT_NE(shared_meaning(rule_by({.kind = config::ResponseClass::revalidate})), 0U);
  EXPECT_EQ(shared_meaning(rule_by({.kind = config::ResponseClass::pass})), 0U);
  auto elsewhere = fresh;
  elsewhere.by_pattern->pattern = "/x";
  EXPECT_EQ(shared_meaning(elsewhere), shared_meaning(fresh));
}

}  // namespace
}  // namespace proxy::policy
