#include "proxy/policy/routes.hpp"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include "config/load.hpp"
#include "peers/directory.hpp"

namespace proxy::policy {
namespace {

using Clock = upstream::Origins::Clock;

config::Settings settings(const std::string& peers, const std::string& more = "") {
  const auto loaded = config::load("{\"peers\":[" + peers + "]" + more + "}");
  if (loaded.has_error()) throw std::invalid_argument(loaded.error().front().what);
  return *loaded;
}

std::string parent(const std::string& host, const std::string& more = "") {
  return R"({"url":"http://)" + host + R"(","name":")" + host + R"(","role":"parent")" + more + '}';
}

http::Target target(const std::string& url, std::string_view method = "GET") {
  return *http::parse_target(method, url);
}

// The names of the parents in their order.
std::vector<std::string> order(const upstream::Route& route) {
  std::vector<std::string> names;
  for (const std::size_t number : route.order) names.push_back((*route.parents)[number].name);
  return names;
}

TEST(Routes, LeadToTheOriginAloneWithoutParents) {
  const Routes routes(settings(R"({"url":"http://b"})"), nullptr);
  const auto route = routes.find(target("http://a.test/x"));
  EXPECT_FALSE(route.has_parents());
  EXPECT_TRUE(route.direct);
}

TEST(Routes, NameTheSiteAsTheTargetOfARequestToAProxyBegins) {
  const Routes routes(settings(parent("p")), nullptr);
  EXPECT_EQ(routes.find(target("http://A.test:80/x")).site, "http://a.test");
  const Routes secure(settings(R"({"url":"https://q","role":"parent"})"), nullptr);
  EXPECT_EQ(secure.find(target("https://a.test:8443/x?y")).site, "https://a.test:8443");
  EXPECT_EQ(routes.find(target("http://[::1]:81/")).site, "http://[::1]:81");
  EXPECT_EQ(routes.find(target("a.test:443", "CONNECT")).site, "");
}

TEST(Routes, LeadThroughTheParentsOfTheHostAndToTheOriginUnlessNeverDirect) {
  struct Case {
    std::string url;
    std::vector<std::string> parents;
    bool direct;
  };
  const Routes routes(settings(parent("p", R"(,"for":["*.x.org","y.org:81"])") + ',' +
                                   parent("q", R"(,"for":["*.x.org"],"not_for":["a.x.org"])") +
                                   R"(,{"url":"http://s","for":["s.org"]})",
                               R"(,"never_direct":["*.x.org","z.org"])"),
                      nullptr);
  for (const Case& c : {
           Case{"http://a.x.org/", {"p"}, false},
           Case{"http://y.org:81/", {"p"}, true},
           Case{"http://y.org/", {}, true},
           Case{"http://z.org/", {}, false},
           Case{"http://s.org/", {}, true},
       }) {
    const auto route = routes.find(target(c.url));
    EXPECT_EQ(order(route), c.parents) << c.url;
    EXPECT_EQ(route.direct, c.direct) << c.url;
  }
  EXPECT_EQ(order(routes.find(target("http://b.x.org/"))).size(), 2U);
}

TEST(Routes, ShowTheContentOfHttpsToParentsOverTlsAlone) {
  const Routes routes(settings(parent("p") + R"(,{"url":"https://q","name":"q","role":"parent"})",
                               R"(,"never_direct":["a.test"])"),
                      nullptr);
  EXPECT_EQ(order(routes.find(target("https://a.test/"))), (std::vector<std::string>{"q"}));
  EXPECT_EQ(order(routes.find(target("http://a.test/"))).size(), 2U);
  EXPECT_EQ(order(routes.find(target("a.test:443", "CONNECT"))).size(), 2U);
}

TEST(Routes, TellAParentTheLoginOfItsSettings) {
  const Routes routes(settings(parent("p", R"(,"login":"Aladdin:open sesame")")), nullptr);
  const auto route = routes.find(target("http://a.test/"));
  EXPECT_EQ((*route.parents)[0].authorization, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");  // RFC 7617
}

// How many of 3,000 URLs have each parent as their first one.
std::map<std::string, int> shares(const Routes& routes) {
  std::map<std::string, int> first;
  for (int i = 0; i < 3000; ++i) {
    ++first[order(routes.find(target("http://a.test/" + std::to_string(i)))).at(0)];
  }
  return first;
}

TEST(Routes, ShareTheUrlsInProportionToTheWeights) {
  const Routes routes(settings(parent("p", R"(,"weight":1)") + ',' + parent("q", R"(,"weight":2)")),
                      nullptr);
  const auto first = shares(routes);
  EXPECT_NEAR(first.at("p"), 1000, 130);  // five standard deviations
  EXPECT_NEAR(first.at("q"), 2000, 130);
}

TEST(Routes, ChangeOnlyForTheUrlsOfAParentThatIsNoLongerThere) {
  const Routes all(settings(parent("p") + ',' + parent("q") + ',' + parent("r")), nullptr);
  const Routes fewer(settings(parent("r") + ',' + parent("p")), nullptr);
  for (int i = 0; i < 300; ++i) {
    const auto url = target("http://a.test/" + std::to_string(i));
    auto expected = order(all.find(url));
    std::erase(expected, "q");
    EXPECT_EQ(order(fewer.find(url)), expected) << url.url();
  }
}

TEST(Routes, KeepTheStateOfTheSameParents) {
  const auto told = settings(parent("p"));
  const Routes before(told, nullptr);
  const auto now = Clock::now();
  before.find(target("http://a.test/")).parents->live().failed(0, now);
  EXPECT_TRUE(Routes(told, &before).status(0, now)->rests);
  EXPECT_FALSE(Routes(told, nullptr).status(0, now)->rests);
}

TEST(Routes, NeverLeadToOurselves) {
  const auto told = settings(parent("p") + ',' + parent("q"), R"(,"never_direct":"all")");
  const peers::PeerDirectory directory(told.peers);
  const Routes routes(told, nullptr, directory.peers());
  directory.peers()[0]->record->ourselves = true;
  const auto url = target("http://a.test/");
  EXPECT_EQ(order(routes.find(url)), (std::vector<std::string>{"q"}));
  EXPECT_FALSE(routes.find(url).direct);
  directory.peers()[1]->record->ourselves = true;
  EXPECT_FALSE(routes.find(url).has_parents());
  EXPECT_TRUE(routes.find(url).direct) << "we are the parent that never_direct leads to";
}

TEST(Routes, HaveAStatusForParentsAlone) {
  const Routes routes(settings(R"({"url":"http://s"},)" + parent("p")), nullptr);
  EXPECT_FALSE(routes.status(0, Clock::now()));
  EXPECT_TRUE(routes.status(1, Clock::now()));
}

}  // namespace
}  // namespace proxy::policy
