#include "proxy/policy/site_rules.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/policy/requests.hpp"

namespace proxy::policy {
namespace {

using namespace std::chrono_literals;

config::RuleSettings rule(const std::string& host, const std::string& path = "") {
  config::RuleSettings rule;
  rule.name = host + path;
  rule.host = config::parse_host_pattern(host).value();
  rule.path = path;
  return rule;
}

http::Target url(const std::string& text) {
  return http::parse_target("GET", text).value();
}

TEST(SiteRules, TheFirstThatMatchesCounts) {
  const SiteRules rules({rule("a.test", "/x/"), rule("a.test:8080"), rule("*.test", "/x?y"),
                         rule("*.test", "/x"), rule("b.example")});
  const std::pair<std::string, std::string> cases[] = {
      {"http://a.test/x/y", "rule/a.test/x/"},     {"http://A.test:80/x/", "rule/a.test/x/"},
      {"https://a.test/x/", "rule/a.test/x/"},     {"http://a.test/X/", ""},
      {"http://a.test/x", "rule/*.test/x"},        {"http://a.test:8080/z", "rule/a.test:8080"},
      {"http://a.test:8080/x/", "rule/a.test/x/"}, {"http://b.test/x?y=1", "rule/*.test/x?y"},
      {"http://b.test/x?z", "rule/*.test/x"},      {"http://test/x", ""},
      {"http://b.example/", "rule/b.example"},
  };
  for (const auto& [text, word] : cases) {
    const auto* found = rules.find(url(text));
    EXPECT_EQ(found ? found->word() : "", word) << text;
  }
  EXPECT_EQ(SiteRules().find(url("http://a.test/")), nullptr);
}

TEST(SiteRules, MatchOneOfTheirGlobsAndThePathWithoutItsQuery) {
  auto both = rule("a.test", "/pool/");
  both.paths = {"*.deb", "*/by-hash/*"};
  auto umlaut = rule("b.test");
  umlaut.paths = {"/\xc3\xa4*"};
  const SiteRules rules({both, umlaut});
  const std::pair<std::string, bool> cases[] = {
      {"http://a.test/pool/x.deb", true},     {"http://a.test/pool/x.deb?a=1", true},
      {"http://a.test/pool/x?a=.deb", false}, {"http://a.test/dists/x.deb", false},
      {"http://a.test/pool/by-hash/0", true}, {"http://a.test/pool/x.udeb", false},
      {"http://b.test/%C3%A4/x", true},
  };
  for (const auto& [text, is_matched] : cases) {
    EXPECT_EQ(rules.find(url(text)) != nullptr, is_matched) << text;
  }
}

// Wire format: see digest/rule.hpp.
TEST(SiteRules, MeanTheSameToNeighboursWhateverTheirNamesAndConditions) {
  auto packages = rule("*.debian.org", "/debian/pool/");
  packages.min_fresh = 720h;
  EXPECT_EQ(shared_meaning(packages), 0x2bf68b35cbcd21e9U);
  auto same = rule("mirror.example.org");
  same.paths = {"*.deb"};
  same.min_fresh = 30 * 24h + 1ms;
  same.immutable = true;
  same.negative = 10s;
  EXPECT_EQ(shared_meaning(same), shared_meaning(packages));
  for (const auto change :
       {+[](config::RuleSettings& other) { other.min_fresh = 721h; },
        +[](config::RuleSettings& other) { other.max_fresh = 1000h; },
        +[](config::RuleSettings& other) { other.ignore_authorization = true; }}) {
    auto other = packages;
    change(other);
    EXPECT_NE(shared_meaning(other), shared_meaning(packages));
  }
  auto shorter = rule("*");
  shorter.max_fresh = 10s;
  EXPECT_EQ(shared_meaning(shorter), 0U) << "what it keeps is fresh by the origin's word, too";
}

struct Dropped {
  std::vector<std::string> names;
  std::string url;
  std::string key;
};

TEST(SiteRules, DropParametersFromTheKeyAlone) {
  const std::string a = "http://a/p";
  const Dropped cases[] = {
      {{"utm_*"}, a + "?utm_source=x&b=1&utm_=2", a + "?b=1"},
      {{"utm_*"}, a + "?utm=1", a + "?utm=1"},
      {{"utm_*"}, a + "?utm_a", a},
      {{"utm_*"}, a + "?b&&utm_a&=", a + "?b&&="},
      {{"utm_*"}, a, a},
      {{"utm_*"}, a + "?", a + "?"},
      {{"utm_*"}, a + "?b=utm_a?utm_c", a + "?b=utm_a?utm_c"},
      {{"b", "c"}, a + "?a=1&b=2&c=3&bb=4&B=5", a + "?a=1&bb=4&B=5"},
      {{"b"}, a + "?%62=1", a + "?%62=1"},
      {{"*"}, a + "?a=1&b", a},
      {{"*"}, a + "?", a},
      {{}, a + "?a=1", a + "?a=1"},
  };
  for (const auto& c : cases) {
    auto settings = rule("*");
    settings.drop_query = c.names;
    EXPECT_EQ(SiteRules({settings}).key_url(url(c.url)), c.key) << c.url;
  }
}

struct Followed {
  explicit Followed(const config::RuleSettings& settings, const std::string& lines = "",
                    const std::string& target = "http://a.test/x?b=1")
      : request(lines, "GET " + target + " HTTP/1.1") {
    config::Settings all;
    all.rules = {settings};
    request.parsed->pin(std::make_shared<const Policy>(std::move(all), lists::AccessLists{}));
    request.parsed->apply_site_rule();
  }
  const cache::RequestFacts& facts() const { return request.parsed->facts; }

  TextRequest request;
};

TEST(SiteRules, DoNothingThatIsNotAskedFor) {
  const Followed followed(rule("a.test"), "Cache-Control: no-cache, max-age=0\r\n");
  EXPECT_TRUE(followed.facts().control.no_cache);
  EXPECT_EQ(followed.facts().control.max_age, 0s);
  EXPECT_FALSE(followed.facts().never_store);
  EXPECT_EQ(followed.facts().freshness, cache::FreshnessBounds{});
  EXPECT_FALSE(followed.facts().offline);
  EXPECT_TRUE((*followed.request).may_be_shared());
}

TEST(SiteRules, IgnoreAClientsReload) {
  auto settings = rule("a.test");
  settings.ignore_client_no_cache = true;
  for (const char* lines :
       {"Cache-Control: no-cache\r\n", "Cache-Control: max-age=0\r\n", "Pragma: no-cache\r\n"}) {
    const Followed followed(settings, lines);
    EXPECT_FALSE(followed.facts().control.no_cache) << lines;
    EXPECT_FALSE(followed.facts().control.max_age) << lines;
  }
  const Followed others(settings, "Cache-Control: max-age=1, no-store, only-if-cached\r\n");
  EXPECT_EQ(others.facts().control.max_age, 1s);
  EXPECT_TRUE(others.facts().control.no_store);
  EXPECT_TRUE(others.facts().control.only_if_cached);
}

TEST(SiteRules, LeaveCredentialsOutOfAccountWhereTheSitesOwnerSaysSo) {
  auto settings = rule("a.test");
  settings.ignore_authorization = true;
  const Followed with(settings, "Authorization: Basic eDp5\r\n");
  EXPECT_FALSE(with.facts().authorization);
  EXPECT_TRUE(with.facts().open_to_all);
  EXPECT_TRUE(with.facts().has_credentials);
  EXPECT_TRUE((*with.request).head.fields.has(http::field::authorization)) << "for the origin";
  const Followed without(settings);
  EXPECT_TRUE(without.facts().open_to_all);
  EXPECT_FALSE(without.facts().has_credentials);
  const Followed elsewhere(settings, "Authorization: Basic eDp5\r\n", "http://b.test/");
  EXPECT_TRUE(elsewhere.facts().authorization);
  EXPECT_FALSE(elsewhere.facts().open_to_all);
}

// A neighbour without the rule has the response under another key. And it would get from us, under
// this URL, a response that was fetched for another URL.
TEST(SiteRules, AUrlThatLostParametersIsNotSharedWithNeighbours) {
  auto settings = rule("a.test");
  settings.drop_query = {"b"};
  const Followed reduced(settings);
  EXPECT_EQ((*reduced.request).stored_as(), "http://a.test/x");
  EXPECT_FALSE((*reduced.request).may_be_shared());
  EXPECT_EQ((*reduced.request).target.path(), "/x?b=1") << "the origin is asked for that";
  EXPECT_EQ((*reduced.request).stored_as(url("http://a.test/y?b=1")), "http://a.test/y");
  const Followed same(settings, "", "http://a.test/x?c");
  EXPECT_EQ((*same.request).stored_as(), "http://a.test/x?c");
  EXPECT_TRUE((*same.request).may_be_shared());
  const Followed another(settings, "", "http://b.test/x?b=1");
  EXPECT_EQ((*another.request).stored_as(), "http://b.test/x?b=1");
}

TEST(SiteRules, HoldForTheFillToo) {
  auto settings = rule("a.test");
  settings.drop_query = {"*"};
  settings.min_fresh = 90s;
  settings.max_fresh = 1500ms + 90s;
  settings.never_store = true;
  settings.offline = true;
  const Followed followed(settings);
  const OwnedRequest owned(*followed.request);
  EXPECT_EQ(owned.get().stored_as(), "http://a.test/x");
  EXPECT_EQ(owned.get().facts.freshness, (cache::FreshnessBounds{90s, 91s}));
  EXPECT_TRUE(owned.get().facts.never_store);
  EXPECT_TRUE(owned.get().facts.offline);
}

}  // namespace
}  // namespace proxy::policy
