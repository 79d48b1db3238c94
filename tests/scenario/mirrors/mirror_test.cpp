// A path of the proxy's own address stands for another server's URL.
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

#include "tests/scenario/mirrors/mirror_scene.hpp"

namespace scenario {
namespace {

struct Mirror {
  explicit Mirror(const json& more = json::object(), const std::string& name = "IP:127.0.0.1")
      : origin(name), proxy(merged(origin.settings(), more)), client(proxy) {
    origin.plain.on("/a", cacheable("hello").with("Content-Type", "text/plain"));
  }
  static json merged(json settings, const json& more) {
    settings.merge_patch(more);
    return settings;
  }
  std::string path(const std::string& path) const { return mirror_path(origin.url(path)); }

  HttpsOrigin origin;
  ProxyProcess proxy;
  MirrorClient client;
};

TEST(Mirror, AsksTheOriginOverVerifiedTlsOnce) {
  Mirror scene;
  EXPECT_EQ(scene.client.get(scene.path("/a")).body, "hello");
  const auto second = scene.client.get(scene.path("/a"));
  EXPECT_EQ(second.body, "hello");
  EXPECT_TRUE(is_hit(second));
  EXPECT_EQ(scene.origin.plain.count(), 1U);
  const auto asked = scene.origin.plain.requests("/a").at(0);
  EXPECT_EQ(asked.target, "/a");
  EXPECT_EQ(asked.field("Host"), scene.origin.front.authority());
  EXPECT_EQ(scene.proxy.logged(scene.origin.url("/a")).status, 200);
}

TEST(Mirror, HasOneEntryForAllFormsOfAUrl) {
  Mirror scene;
  scene.origin.plain.on("/x%2b1?q=%2b", cacheable("plus"));
  EXPECT_EQ(scene.client.get(scene.path("/x%2b1?q=%2b")).body, "plus");
  Client by_proxy(scene.proxy.port());
  const auto absolute = by_proxy.get(scene.origin.url("/x+1?q=%2b"));
  EXPECT_EQ(absolute.body, "plus");
  EXPECT_TRUE(is_hit(absolute));
  // A machine that also has this proxy as its proxy.
  const auto own = by_proxy.get(scene.proxy.url() + scene.path("/x%2B1?q=%2b"));
  EXPECT_EQ(own.body, "plus");
  EXPECT_TRUE(is_hit(own));
  EXPECT_EQ(scene.origin.plain.count(), 1U);
}

TEST(Mirror, AnswersRangesAndConditionsFromTheEntry) {
  Mirror scene;
  scene.origin.plain.on("/b", cacheable("0123456789").with("ETag", "\"v1\""));
  EXPECT_EQ(scene.client.get(scene.path("/b")).status, 200);
  EXPECT_EQ(scene.client.get(scene.path("/b"), {{"Range", "bytes=2-4"}}).body, "234");
  EXPECT_EQ(scene.client.get(scene.path("/b"), {{"If-None-Match", "\"v1\""}}).status, 304);
  EXPECT_EQ(scene.client.request("HEAD", scene.path("/b")).field("Content-Length"), "10");
  EXPECT_EQ(scene.origin.plain.count(), 1U);
}

TEST(Mirror, MirrorsPlainHttpToo) {
  ScriptedOrigin origin;
  origin.on("/a", cacheable("plain"));
  const std::string host = "127.0.0.1:" + std::to_string(origin.port());
  const ProxyProcess proxy(json{{"mirrors", {{"hosts", {host}}}}});
  MirrorClient client(proxy);
  EXPECT_EQ(client.get(mirror_path(origin.url("/a"))).body, "plain");
}

TEST(Mirror, Says403ForAHostThatIsNotListed) {
  Mirror scene;
  for (const char* path : {"/https/other.test/a", "/https/127.0.0.1/a", "/https/127.0.0.1:1/a"}) {
    const auto refused = scene.client.get(path);
    EXPECT_EQ(refused.status, 403) << path;
    EXPECT_TRUE(contains(refused.body, "mirrors.hosts")) << refused.body;
  }
  EXPECT_EQ(scene.origin.plain.count(), 0U);
}

TEST(Mirror, Says400ForAPathThatServersReadInSeveralWays) {
  Mirror scene;
  for (const char* path : {"/../a", "/%2e%2e/a", "/a%00", "/a%2500", "/a\\b", "/a%5Cb", "/a%2Fb"}) {
    EXPECT_EQ(scene.client.get(scene.path(path)).status, 400) << path;
  }
  EXPECT_EQ(scene.origin.plain.count(), 0U);
  scene.client.client.send("GET /https/h/a" + std::string(1, '\0') +
                           " HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(scene.client.client.read().status, 400);
}

TEST(Mirror, Says405ForMethodsThatChangeSomething) {
  Mirror scene;
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE", "OPTIONS"}) {
    const auto refused = scene.client.request(method, scene.path("/a"));
    EXPECT_EQ(refused.status, 405) << method;
    EXPECT_EQ(refused.field("Allow"), "GET, HEAD") << method;
  }
  EXPECT_EQ(scene.origin.plain.count(), 0U);
}

TEST(Mirror, IsNoTunnelAndTakesNoBody) {
  Mirror scene;
  const Fields upgrade{{"Connection", "Upgrade"},
                       {"Upgrade", "websocket"},
                       {"Sec-WebSocket-Version", "13"},
                       {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="}};
  EXPECT_EQ(scene.client.get(scene.path("/a"), upgrade).status, 405);
  scene.client.client.send(
      origin_form_text(scene.client.host, "GET", scene.path("/a"), {{"Content-Length", "1"}}) +
      "x");
  EXPECT_EQ(scene.client.client.read().status, 405);
  EXPECT_EQ(scene.origin.plain.count(), 0U);
}

TEST(Mirror, IsReadByNoPageUnderANameThatIsNotOurs) {
  Mirror scene;
  Client page(scene.proxy.port());
  page.send(origin_form_text("evil.test", "GET", scene.path("/a"), {{"Accept-Language", "en"}}));
  const auto refused = page.read();
  EXPECT_EQ(refused.status, 403);
  EXPECT_TRUE(contains(refused.body, "access.own_names")) << refused.body;
  EXPECT_EQ(scene.origin.plain.count(), 0U);
}

// A name of this machine that is neither its host name nor below localhost. Empty: there is none.
std::string alias_of_loopback() {
  char own[256] = {};
  ::gethostname(own, sizeof own - 1);
  std::istringstream lines(read_file("/etc/hosts"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string address;
    std::string name;
    if (!(words >> address) || address != "127.0.0.1") continue;
    while (words >> name)
      if (!contains(name, "localhost") && name != own) return name;
  }
  return {};
}

// M3: a machine that also has this proxy as its proxy names it by an alias. A page may have made
// its own name point here.
TEST(Mirror, IsReadThroughTheProxyByAnAliasOfItButByNoPage) {
  const auto name = alias_of_loopback();
  if (name.empty()) GTEST_SKIP() << "/etc/hosts has no other name of 127.0.0.1";
  Mirror scene;
  Client by_proxy(scene.proxy.port());
  const auto alias = "http://" + name + ":" + std::to_string(scene.proxy.port());
  EXPECT_EQ(by_proxy.get(alias + scene.path("/a")).body, "hello");
  EXPECT_EQ(scene.origin.plain.count(), 1U);
  const auto refused = by_proxy.get(alias + scene.path("/a"), {{"Accept-Language", "en"}});
  EXPECT_EQ(refused.status, 403);
  EXPECT_TRUE(contains(refused.body, "access.own_names")) << refused.body;
  for (const char* path : {"/a", "/digest", "/health"})
    EXPECT_EQ(by_proxy.get(alias + path).status, 403) << path;
}

// What the name leads to is unknown, or it leads elsewhere.
TEST(Mirror, NamesTheSettingThatLacksANameOfOurs) {
  Mirror scene;
  Client by_proxy(scene.proxy.port());
  const auto alias = "http://alias.localhost:" + std::to_string(scene.proxy.port());
  const auto refused = by_proxy.get(alias + scene.path("/a"));
  EXPECT_EQ(refused.status, 403);
  EXPECT_TRUE(contains(refused.body, "access.own_names")) << refused.body;
  EXPECT_FALSE(contains(by_proxy.get(alias + "/a").body, "access.own_names"));
  EXPECT_EQ(scene.origin.plain.count(), 0U);
}

TEST(Mirror, Says502ForACertificateOfAnotherName) {
  Mirror scene(json::object(), "IP:127.0.0.2");
  EXPECT_EQ(scene.client.get(scene.path("/a")).status, 502);
  EXPECT_EQ(scene.client.get(scene.path("/a"), {{"Cache-Control", "only-if-cached"}}).status, 504);
  EXPECT_EQ(scene.origin.plain.count(), 0U);
}

TEST(Mirror, AnswersStaleOrAsTheOriginIfThatSaysNo) {
  Mirror scene;
  scene.origin.plain.on("/old", cacheable("old", "max-age=0").with("ETag", "\"v1\""));
  scene.client.get(scene.path("/old"));
  for (const int status : {429, 500, 503, 404}) {
    for (const char* path : {"/old", "/new"})
      scene.origin.plain.on(path, Reply(status, {{"Retry-After", "7"}}).body("no"));
    const auto stored = scene.client.get(scene.path("/old"));
    const auto none = scene.client.get(scene.path("/new"));
    EXPECT_EQ(none.status, status) << "no status becomes another one";
    EXPECT_EQ(none.body, "no");
    EXPECT_EQ(none.field("Retry-After"), "7");
    EXPECT_EQ(stored.status, status == 404 ? 404 : 200);
    if (status == 404) continue;
    EXPECT_EQ(stored.body, "old");
    EXPECT_TRUE(stored.has("Age"));
    const auto why = "stale-if-error/" + std::to_string(status);
    EXPECT_TRUE(contains(stored.field("Cache-Status"), why)) << stored.field("Cache-Status");
  }
  scene.origin.plain.on("/new", Reply::hang_up());
  EXPECT_EQ(scene.client.get(scene.path("/new")).status, 502);
}

TEST(Mirror, Says504ForAnOriginThatIsAway) {
  const auto port = ScriptedOrigin().port();
  const auto away = "127.0.0.1:" + std::to_string(port);
  const ProxyProcess proxy(json{{"mirrors", {{"hosts", {away}}}}});
  EXPECT_EQ(MirrorClient(proxy).get("/https/" + away + "/a").status, 504);
}

TEST(Mirror, TrustsTheAuthorityOfAHostFromAReloadOn) {
  HttpsOrigin origin;
  origin.plain.on("/a", cacheable("hello"));
  const auto path = mirror_path(origin.url("/a"));
  auto settings = origin.settings();
  // The sandbox knows the folders of the start alone.
  settings["mirrors"]["ca"] = {{"other.test", origin.directory / "ca.pem"}};
  ProxyProcess proxy(settings);
  MirrorClient client(proxy);
  EXPECT_EQ(client.get(path).status, 502);
  proxy.reload(origin.settings());
  EXPECT_EQ(client.get(path).body, "hello");
}

TEST(Mirror, ServesWhereNobodyMayUseTheProxyAsOne) {
  Mirror scene(json{{"forward", false}});
  EXPECT_EQ(scene.client.get(scene.path("/a")).body, "hello");
  Client by_proxy(scene.proxy.port());
  EXPECT_EQ(by_proxy.get(scene.origin.url("/a")).status, 403);
}

TEST(Mirror, ObeysTheRulesOfAccessForTheHost) {
  Mirror scene(json::parse(
      R"({"access":{"rules":[{"action":"deny","to":["127.0.0.1"]}],"clients":["any"]}})"));
  EXPECT_EQ(scene.client.get(scene.path("/a")).status, 403);
  EXPECT_EQ(scene.origin.plain.count(), 0U);
}

TEST(Mirror, LeavesThePathToTheOriginOfAMappedHost) {
  ScriptedOrigin site;
  site.otherwise([](const Request& request) { return cacheable("site " + request.path); });
  Mirror scene(json{{"reverse", json::array({json{{"host", "*"}, {"to", site.url("")}}})}});
  Client client(scene.proxy.port());
  client.send(origin_form_text("www.test", "GET", scene.path("/a")));
  EXPECT_EQ(client.read().body, "site " + scene.path("/a"));
  EXPECT_EQ(scene.client.get(scene.path("/a")).body, "hello");
}

TEST(Mirror, PurgesTheEntryByEitherForm) {
  Mirror scene;
  EXPECT_EQ(scene.client.get(scene.path("/a")).status, 200);
  EXPECT_EQ(scene.client.request("PURGE", scene.path("/a"), kOnPurpose).status, 200);
  EXPECT_EQ(scene.client.get(scene.path("/a")).status, 200);
  EXPECT_EQ(scene.origin.plain.count(), 2U);
}

// What a mirrored page does in a browser, it does not do to our own pages.
TEST(Mirror, TakesThePowerOverOurOriginFromAnswers) {
  Mirror scene;
  scene.origin.plain.on("/page", cacheable("<script>")
                                     .with("Content-Type", "text/html")
                                     .with("Refresh", "0; url=/")
                                     .with("Strict-Transport-Security", "max-age=1"));
  for (int i = 0; i < 2; ++i) {
    const auto page = scene.client.get(scene.path("/page"));
    EXPECT_EQ(page.field("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(page.field("Content-Security-Policy"), "sandbox; default-src 'none'");
    EXPECT_FALSE(page.has("Refresh") || page.has("Strict-Transport-Security"));
    EXPECT_EQ(page.body, "<script>");
    const auto text = scene.client.get(scene.path("/a"));
    EXPECT_EQ(text.field("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(text.field("Content-Security-Policy"), "sandbox; default-src 'none'");
  }
  // For others the answer is the origin's.
  Client by_proxy(scene.proxy.port());
  const auto page = by_proxy.get(scene.origin.url("/page"));
  EXPECT_TRUE(is_hit(page));
  EXPECT_TRUE(page.has("Refresh"));
  EXPECT_FALSE(page.has("Content-Security-Policy"));
}

// S1: in a 304, too, whose fields replace those that a browser has.
TEST(Mirror, TakesThePowerFromAnswersOfEveryStatus) {
  Mirror scene;
  scene.origin.plain.on("/page", cacheable("0123456789").with("ETag", "\"1\""));
  const struct {
    const char* path;
    Fields fields;
    unsigned status;
  } cases[] = {{"/page", {}, 200},
               {"/page", {{"If-None-Match", "\"1\""}}, 304},
               {"/page", {{"Range", "bytes=20-"}}, 416},
               {"/page", {{"Range", "bytes=1-2"}}, 206},
               {"/missing", {}, 404}};
  for (const auto& c : cases) {
    const auto answer = scene.client.get(scene.path(c.path), c.fields);
    EXPECT_EQ(answer.status, c.status);
    EXPECT_EQ(answer.field("X-Content-Type-Options"), "nosniff") << c.status;
    EXPECT_EQ(answer.field("Content-Security-Policy"), "sandbox; default-src 'none'") << c.status;
  }
}

// Lines that no cache may store reach the client that asked, by another way.
TEST(Mirror, TakesThePowerFromLinesThatAreForTheAskerAlone) {
  Mirror scene;
  scene.origin.plain.on("/a",
                        cacheable("hello", "max-age=600, private=\"Set-Cookie, Refresh, X-Own\"")
                            .with("Set-Cookie", "a=b")
                            .with("Refresh", "0; url=/")
                            .with("X-Own", "1"));
  const auto answer = scene.client.get(scene.path("/a"));
  EXPECT_EQ(answer.body, "hello");
  EXPECT_EQ(answer.field("X-Own"), "1");
  EXPECT_FALSE(answer.has("Set-Cookie") || answer.has("Refresh"));
}

// A browser would ask for a password of ours, and send it to other servers with the same realm.
TEST(Mirror, LetsNoServerAskABrowserForAPassword) {
  Mirror scene;
  scene.origin.plain.on("/a", Reply(401, {{"WWW-Authenticate", "Basic realm=\"a\""}}));
  const auto for_tool = scene.client.get(scene.path("/a"));
  EXPECT_EQ(for_tool.field("WWW-Authenticate"), "Basic realm=\"a\"");
  const auto for_browser = scene.client.get(scene.path("/a"), {{"Accept-Language", "en"}});
  EXPECT_EQ(for_browser.status, 401);
  EXPECT_FALSE(for_browser.has("WWW-Authenticate"));
}

TEST(Mirror, SendsNoInterimHeadsOfTheOrigin) {
  Mirror scene;
  scene.origin.plain.on(
      "/a", cacheable("hello").interim("HTTP/1.1 103 Early Hints", {{"Link", "</style.css>"}}));
  EXPECT_EQ(scene.client.get(scene.path("/a")).status, 200);
  EXPECT_TRUE(scene.client.client.interim().empty());
}

TEST(Mirror, RefusesOrdersOfPagesOfAnotherOrigin) {
  Mirror scene;
  scene.client.get(scene.path("/a"));
  for (const Field& field :
       {Field{"Origin", "null"}, Field{"Origin", "http://a.test"},
        Field{"Sec-Fetch-Site", "cross-site"}, Field{"Sec-Fetch-Site", "same-site"}}) {
    EXPECT_EQ(scene.client.request("PURGE", scene.path("/a"), {kOnPurpose[0], field}).status, 403)
        << field.second;
  }
  const Fields own{kOnPurpose[0], {"Origin", scene.proxy.url()}, {"Sec-Fetch-Site", "same-origin"}};
  EXPECT_EQ(scene.client.request("POST", "/admin/reload", own).status, 200);
}

}  // namespace
}  // namespace scenario
