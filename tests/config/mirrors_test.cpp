#include <gtest/gtest.h>

#include "config/load.hpp"

namespace config {
namespace {

std::string mirrors(const std::string& text) {
  return R"({"mirrors":{)" + text + "}}";
}

TEST(MirrorSettings, AreOffByDefault) {
  EXPECT_EQ(Settings{}.gateway.mirrors.hosts, std::vector<HostSpec>{});
  EXPECT_EQ(Settings{}.gateway.mirrors.share, MirrorShare::anonymous);
}

TEST(MirrorSettings, TakeHostsAndTheirCertificates) {
  const auto settings =
      load(mirrors(R"("hosts":["Files.Example.com","*.example.org:8443"],"share":"none",)"
                   R"("ca":{"Files.example.com":"/etc/a.pem","*.example.org":"b.pem"})"));
  ASSERT_TRUE(settings.has_value());
  const MirrorSettings expected{{{"files.example.com", std::nullopt}, {"*.example.org", 8443}},
                                {{"files.example.com", "/etc/a.pem"}, {"*.example.org", "b.pem"}},
                                MirrorShare::none,
                                {},
                                {},
                                {},
                                {},
                                {}};
  EXPECT_EQ(settings->gateway.mirrors, expected);
}

TEST(MirrorSettings, TakeRecipesByNameAndAsTables) {
  const auto all = load(mirrors(R"("recipes":"default")"));
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->gateway.mirrors.recipes, std::vector<std::string>{"default"});
  const auto settings = load(mirrors(
      R"("recipes":["github",{"name":"models","prefix":"/models/","to":"https://M.test:8443",)"
      R"("hosts":["*.m.test"],"follow":["*.storage.test"],"rules":[)"
      R"({"name":"blobs","pattern":"/blobs/{sha256}","class":"immutable","key":"path"},)"
      R"({"name":"tags","host":"b.m.test","class":"1m","negative":"10s"}]}])"));
  ASSERT_TRUE(settings.has_value());
  const auto& read = settings->gateway.mirrors;
  EXPECT_EQ(read.recipes, std::vector<std::string>{"github"});
  RuleSettings blobs;
  blobs.name = "blobs";
  blobs.host = {"*", {}};
  blobs.by_pattern = PatternRule{
      .pattern = "/blobs/{sha256}", .kind = ResponseClass::immutable, .name = StoredUnder::path};
  RuleSettings tags;
  tags.name = "tags";
  tags.host = {"b.m.test", {}};
  tags.min_fresh = std::chrono::minutes(1);
  tags.negative = std::chrono::seconds(10);
  tags.by_pattern = PatternRule{.kind = ResponseClass::fresh};
  const RecipeSettings models{.name = "models",
                              .prefix = "/models/",
                              .to = "https://M.test:8443",
                              .hosts = {{"*.m.test", {}}, {"m.test", 8443}},
                              .follow = {{"*.storage.test", {}}},
                              .rules = {blobs, tags}};
  EXPECT_EQ(read.own_recipes, std::vector{models});
}

TEST(MirrorSettings, NameARegistry) {
  const auto settings = load(mirrors(R"("registry":"registry.a.test:5000")"));
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->gateway.mirrors.registry, "registry.a.test:5000");
}

TEST(MirrorSettings, NameRegistriesForHostsAndListeners) {
  const auto settings = load(
      R"({"listen":["127.0.0.1:1",{"address":"0.0.0.0:2","registry":"a.test"},{"address":"[::1]:3"}],)"
      R"("mirrors":{"registries":{"m.test":"b.test:5000","*:5000":"c.test"}}})");
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->process.listen,
            (std::vector<HostPort>{{"127.0.0.1", 1}, {"0.0.0.0", 2}, {"::1", 3}}));
  const auto& mirrors = settings->gateway.mirrors;
  EXPECT_EQ(mirrors.listeners, (std::vector<ListenerRegistry>{{{"0.0.0.0", 2}, "a.test"}}));
  EXPECT_EQ(mirrors.registries,
            (std::vector<HostRegistry>{{{"m.test", {}}, "b.test:5000"}, {{"*", 5000}, "c.test"}}));
}

TEST(MirrorSettings, NameNoRegistryForAPortThatTheSystemChooses) {
  const auto listen = [](const std::string& port) {
    return load(R"({"listen":[{"address":"127.0.0.1:)" + port + R"(","registry":"a.test"}]})");
  };
  EXPECT_TRUE(listen("1").has_value());
  EXPECT_FALSE(listen("0").has_value());
}

TEST(MirrorSettings, AreRefusedWithTheirPlaceAndTheReason) {
  const struct {
    std::string text, path, words;
  } cases[] = {
      {R"("hosts":7)", "mirrors.hosts", "a list"},
      {R"("hosts":["*"])", "mirrors.hosts[0]", "found \"*\""},
      {R"("hosts":["*.com"])", "mirrors.hosts[0]", "found \"*.com\""},
      {R"("hosts":["a","a b"])", "mirrors.hosts[1]", "expected a host"},
      {R"("hosts":["https://a"])", "mirrors.hosts[0]", "expected a host"},
      {R"("registries":{"m.test":"*.a.test"})", "mirrors.registries.m.test", "a host, perhaps"},
      {R"("registries":{"a b":"a.test"})", "mirrors.registries.a b", "is no host"},
      {R"("registries":"a.test")", "mirrors.registries", "an object"},
      {R"("ca":"/etc/a.pem")", "mirrors.ca", "each with the path of a file"},
      {R"("ca":{"*":"a.pem"})", "mirrors.ca.*", "is no host"},
      {R"("ca":{"a:443":"a.pem"})", "mirrors.ca.a:443", "is no host"},
      {R"("ca":{"a":7})", "mirrors.ca.a", "the path of a file"},
      {R"("ca":{"a":""})", "mirrors.ca.a", "the path of a file"},
      {R"("registry":"*.a.test")", "mirrors.registry", "a host"},
      {R"("share":"all")", "mirrors.share", "\"anonymous\""},
      {R"("recipes":7)", "mirrors.recipes", "\"default\", or a list"},
      {R"("recipes":"github")", "mirrors.recipes", "\"default\", or a list"},
      {R"("recipes":[7])", "mirrors.recipes[0]", "an object"},
      {R"("recipes":[{}])", "mirrors.recipes[0]", "\"name\""},
      {R"("recipes":[{"name":"a","prefix":"/a/"}])", "mirrors.recipes[0]", "both prefix and to"},
      {R"("recipes":[{"name":"a","prefix":"/digest/","to":"https://a"}])",
       "mirrors.recipes[0].prefix", "none of our pages"},
      {R"("recipes":[{"name":"a","prefix":"/a/b/","to":"https://a"}])", "mirrors.recipes[0].prefix",
       "one part"},
      {R"("recipes":[{"name":"a","prefix":"/a/","to":"https://a/b"}])", "mirrors.recipes[0].to",
       "without a path"},
      {R"("recipes":[{"name":"a","follow":["*"]}])", "mirrors.recipes[0].follow[0]", "a host"},
      {R"("recipes":[{"name":"a","rules":[{"name":"b","pattern":"/x"}]}])",
       "mirrors.recipes[0].rules[0]", "does nothing"},
      {R"("recipes":[{"name":"a","rules":[{"name":"b","class":"imutable"}]}])",
       "mirrors.recipes[0].rules[0].class", "found \"imutable\""},
      {R"("recipes":[{"name":"a","rules":[{"name":"b","class":"pass","min_fresh":"1s"}]}])",
       "mirrors.recipes[0].rules[0].class", "says it already"},
      {R"("recipes":[{"name":"a","rules":[{"name":"b","key":"content"}]}])",
       "mirrors.recipes[0].rules[0].key", "needs a pattern with {sha256}"},
      {R"("recipes":[{"name":"a","rules":[{"name":"b","key":"path","drop_query":["x"]}]}])",
       "mirrors.recipes[0].rules[0].drop_query", "no effect"},
      {R"("host":["a"])", "mirrors.host", "mean \"hosts\"?"},
  };
  for (const auto& c : cases) {
    const auto settings = load(mirrors(c.text));
    ASSERT_TRUE(settings.has_error()) << c.text;
    const auto [where, what] = settings.error().at(0);
    EXPECT_TRUE(where.ends_with(", " + c.path)) << where;
    EXPECT_NE(what.find(c.words), std::string::npos) << what;
  }
}

}  // namespace
}  // namespace config
