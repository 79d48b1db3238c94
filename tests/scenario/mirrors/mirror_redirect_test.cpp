// An origin's redirects to listed hosts are followed inside.
#include <gtest/gtest.h>

#include "tests/scenario/mirrors/mirror_scene.hpp"

namespace scenario {
namespace {

// An origin that redirects, and a storage with another port. Both are mirrored.
struct Redirecting {
  explicit Redirecting(std::vector<std::string> hosts = {})
      : storage_front(origin.authority, "IP:127.0.0.1", storage.port()),
        settings(origin.settings(listed(std::move(hosts)))),
        proxy(settings),
        client(proxy) {
    origin.plain.on("/file", redirect(storage_front.url("/signed?sig=secret")));
    storage.on("/signed?sig=secret", cacheable("0123456789").with("ETag", "\"v1\""));
  }
  std::vector<std::string> listed(std::vector<std::string> hosts) const {
    hosts.push_back(origin.front.authority());
    if (hosts.size() == 1) hosts.push_back(storage_front.authority());
    return hosts;
  }
  static Reply redirect(const std::string& to) {
    return Reply(302, {{"Location", to}, {"Cache-Control", "max-age=600"}}).body("see there");
  }
  std::string path(const std::string& path) const { return mirror_path(origin.url(path)); }

  HttpsOrigin origin;
  ScriptedOrigin storage;
  TlsFront storage_front;
  json settings;
  ProxyProcess proxy;
  MirrorClient client;
};

TEST(MirrorRedirect, GivesTheFileUnderItsFirstUrl) {
  Redirecting scene;
  for (int i = 0; i < 2; ++i) {
    const auto file = scene.client.get(scene.path("/file"));
    EXPECT_EQ(file.status, 200);
    EXPECT_EQ(file.body, "0123456789");
    EXPECT_EQ(is_hit(file), i == 1);
  }
  EXPECT_EQ(scene.origin.plain.count(), 1U);
  EXPECT_EQ(scene.storage.count(), 1U);
  EXPECT_EQ(scene.client.get(scene.path("/file"), {{"Range", "bytes=2-4"}}).body, "234");
  // Nobody sees the signature.
  EXPECT_FALSE(contains(read_file(scene.proxy.access_log_path()), "secret"));
  EXPECT_FALSE(contains(scene.proxy.page("/admin/cache/list").body, "secret"));
}

TEST(MirrorRedirect, SendsCredentialsToTheFirstOriginAlone) {
  Redirecting scene;
  scene.client.get(scene.path("/file"), {{"Authorization", "Bearer x"}});
  EXPECT_EQ(scene.origin.plain.requests("/file").at(0).field("Authorization"), "Bearer x");
  EXPECT_FALSE(scene.storage.requests().at(0).has("Authorization"));
  Client by_proxy(scene.proxy.port());
  by_proxy.get(scene.origin.url("/file"), {{"Cookie", "a=b"}});
  EXPECT_EQ(scene.origin.plain.requests("/file").at(1).field("Cookie"), "a=b");
  EXPECT_FALSE(scene.storage.requests().at(1).has("Cookie"));
}

// Cookies know no port: a browser sends those of all services on our host.
TEST(MirrorRedirect, SendsNobodyWhatABrowserSendsToOurOwnHost) {
  Redirecting scene;
  const auto ours = scene.proxy.url();
  for (int i = 0; i < 2; ++i) {
    const auto file = scene.client.get(
        scene.path("/file"),
        {{"Cookie", "grafana_session=secret"}, {"Origin", ours}, {"Referer", ours + "/"}});
    EXPECT_EQ(is_hit(file), i == 1);
  }
  for (const auto* origin : {&scene.origin.plain, &scene.storage}) {
    const auto asked = origin->requests().at(0);
    EXPECT_FALSE(asked.has("Cookie") || asked.has("Origin") || asked.has("Referer"));
  }
}

TEST(MirrorRedirect, AsksByHeadForAHead) {  // F4
  Redirecting scene;
  const auto head = scene.client.request("HEAD", scene.path("/file"));
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.field("Content-Length"), "10");
  EXPECT_EQ(scene.origin.plain.requests().at(0).method, "HEAD");
  EXPECT_EQ(scene.storage.requests().at(0).method, "HEAD");
}

// F7: the redirect's own length and lifetime are not the file's, but the file lasts no longer.
TEST(MirrorRedirect, AsksAgainOnceTheRedirectMayHaveChanged) {
  Redirecting scene;
  scene.origin.plain.on("/latest", Reply(302, {{"Location", "/v1"}}));
  scene.origin.plain.on("/v1", cacheable("one", "max-age=31536000").with("ETag", "\"1\""));
  scene.origin.plain.on("/v2", cacheable("two", "max-age=31536000").with("ETag", "\"2\""));
  EXPECT_EQ(scene.client.get(scene.path("/latest")).body, "one");
  scene.origin.plain.on("/latest", Reply(302, {{"Location", "/v2"}}));
  EXPECT_EQ(scene.client.get(scene.path("/latest")).body, "two");
}

TEST(MirrorRedirect, Says502ForARedirectOutOfTheListedHostsOrInACircle) {
  Redirecting scene({"unused.test"});
  scene.origin.plain.on("/circle", Redirecting::redirect("/round"));
  scene.origin.plain.on("/round", Redirecting::redirect("/circle"));
  for (const char* path : {"/file", "/circle"}) {
    const auto refused = scene.client.get(scene.path(path));
    EXPECT_EQ(refused.status, 502) << path;
    EXPECT_FALSE(contains(refused.body, "secret")) << refused.body;
    const Fields stored{{"Cache-Control", "only-if-cached"}};
    EXPECT_EQ(scene.client.get(scene.path(path), stored).status, 504) << path;
  }
  EXPECT_EQ(scene.storage.count(), 0U);
}

// A neighbour or `curl -x` gets the redirect; a mirror path does not, whoever came first.
TEST(MirrorRedirect, Says502ForAStoredRedirect) {
  Redirecting scene({"unused.test"});
  Client by_proxy(scene.proxy.port());
  EXPECT_EQ(by_proxy.get(scene.origin.url("/file")).status, 302);
  EXPECT_TRUE(is_hit(by_proxy.get(scene.origin.url("/file"))));
  for (const char* method : {"GET", "HEAD"})
    EXPECT_EQ(scene.client.request(method, scene.path("/file")).status, 502) << method;
  EXPECT_EQ(scene.origin.plain.count(), 1U);
}

// What a redirect says of storing is said of the answer that was found through it.
TEST(MirrorRedirect, KeepsForAllNoAnswerThatARedirectGivesToOne) {
  const struct {
    std::string path;
    Fields redirect;
    Fields asked;
  } cases[] = {
      {"/private", {{"Cache-Control", "private, max-age=600"}}, {}},
      {"/no-store", {{"Cache-Control", "no-store"}}, {}},
      {"/user", {{"Cache-Control", "max-age=600"}}, {{"Authorization", "Bearer x"}}},
  };
  Redirecting scene;
  for (const auto& c : cases) {
    auto redirect = c.redirect;
    redirect.emplace_back("Location", scene.storage_front.url(c.path));
    scene.origin.plain.on(c.path, Reply(302, redirect));
    scene.storage.on(c.path, cacheable("body", "public, max-age=31536000"));
    for (int i = 0; i < 2; ++i) {
      const auto answer = scene.client.get(scene.path(c.path), c.asked);
      EXPECT_EQ(answer.body, "body") << c.path;
      EXPECT_FALSE(is_hit(answer)) << c.path;
      EXPECT_EQ(answer.field("Cache-Control"), "no-store") << c.path;
    }
    EXPECT_EQ(scene.storage.count(c.path), 2U);
  }
}

TEST(MirrorRedirect, Says502ForARedirectWhoseHeadIsTooLong) {
  Redirecting scene;
  scene.origin.plain.on("/file", Redirecting::redirect(scene.storage_front.url("/long"))
                                     .with("X-Long", std::string(70'000, 'x')));
  const auto refused = scene.client.get(scene.path("/file"));
  EXPECT_EQ(refused.status, 502);
  EXPECT_EQ(scene.storage.count(), 0U);
}

TEST(MirrorRedirect, TellsHowLongTheRedirectLasts) {
  Redirecting scene;
  scene.origin.plain.on("/file", Reply(302, {{"Location", scene.storage_front.url("/long")},
                                             {"Cache-Control", "max-age=600"},
                                             {"Age", "100"},
                                             {"Vary", "X-Variant"}}));
  scene.storage.on("/long", cacheable("long", "max-age=31536000, immutable")
                                .with("Vary", "Accept")
                                .with("Set-Cookie", "a=b"));
  Client by_proxy(scene.proxy.port());
  const auto first = by_proxy.get(scene.origin.url("/file"), {{"X-Variant", "1"}});
  EXPECT_EQ(first.body, "long");
  EXPECT_FALSE(first.has("Set-Cookie"));
  const auto control = first.field("Cache-Control");
  EXPECT_TRUE(control == "max-age=500" || control == "max-age=499") << control;
  EXPECT_TRUE(is_hit(by_proxy.get(scene.origin.url("/file"), {{"X-Variant", "1"}})));
  EXPECT_FALSE(is_hit(by_proxy.get(scene.origin.url("/file"), {{"X-Variant", "2"}})));
}

// The head of an answer that is passed on is written anew like that of a stored one.
TEST(MirrorRedirect, TellsAHeadHowLongTheRedirectLasts) {
  Redirecting scene;
  scene.origin.plain.on("/file", Reply(302, {{"Location", scene.storage_front.url("/long")},
                                             {"Cache-Control", "max-age=600"},
                                             {"Vary", "X-Variant"}}));
  scene.storage.on("/long", cacheable("long", "max-age=31536000").with("Set-Cookie", "a=b"));
  const auto head = scene.client.request("HEAD", scene.path("/file"));
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.field("Content-Length"), "4");
  EXPECT_EQ(head.field("Vary"), "X-Variant");
  const auto control = head.field("Cache-Control");
  EXPECT_TRUE(control == "max-age=600" || control == "max-age=599") << control;
  EXPECT_FALSE(head.has("Set-Cookie"));
}

TEST(MirrorRedirect, LeavesNoOldBoundWhenTheFileIsUnchanged) {
  Redirecting scene;
  const auto redirect = [&](const std::string& control) {
    scene.origin.plain.on("/file", Reply(302, {{"Location", scene.storage_front.url("/v")},
                                               {"Cache-Control", control}}));
  };
  scene.storage.on("/v", [](const Request& request) {
    if (request.has("If-None-Match")) return Reply(304, {{"ETag", "\"1\""}});
    return cacheable("v", "max-age=900").with("ETag", "\"1\"");
  });
  redirect("max-age=600");
  const auto control = scene.client.get(scene.path("/file")).field("Cache-Control");
  EXPECT_TRUE(control == "max-age=600" || control == "max-age=599") << control;
  redirect("max-age=5");
  const Fields anew{{"Cache-Control", "no-cache"}};
  const auto unchanged = scene.client.get(scene.path("/file"), anew);
  EXPECT_EQ(unchanged.body, "v");
  EXPECT_EQ(unchanged.field("Cache-Control"), "max-age=0, must-revalidate");
  redirect("no-store");
  EXPECT_EQ(scene.client.get(scene.path("/file")).field("Cache-Control"), "no-store");
}

// The redirect's cookie is for one client.
TEST(MirrorRedirect, KeepsNothingThatARedirectWithACookieLedTo) {
  Redirecting scene;
  scene.origin.plain.on("/file", Reply(302, {{"Location", scene.storage_front.url("/of-all")},
                                             {"Cache-Control", "max-age=600"},
                                             {"Set-Cookie", "a=b"}}));
  scene.storage.on("/of-all", cacheable("x"));
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(is_hit(scene.client.get(scene.path("/file"))));
  EXPECT_EQ(scene.storage.count(), 2U);
}

// Two hosts with plain http, of which the first redirects to the second.
struct PlainHosts {
  explicit PlainHosts(json access = json::object())
      : proxy(json{{"mirrors", {{"hosts", {a, b}}}}, {"access", std::move(access)}}),
        client(proxy) {
    first.on("/file", Redirecting::redirect("http://" + b + "/page"));
    second.on("/page", cacheable("page"));
  }

  ScriptedOrigin first;
  ScriptedOrigin second;
  const std::string a = "127.0.0.1:" + std::to_string(first.port());
  const std::string b = "localhost:" + std::to_string(second.port());
  ProxyProcess proxy;
  MirrorClient client;
};

// A browser asks a proxy for http URLs, and takes a page for the one of the URL's host.
TEST(MirrorRedirect, IsTheBusinessOfClientsThatAskTheProxyForHttp) {
  PlainHosts scene;
  EXPECT_EQ(scene.client.get("/http/" + scene.a + "/file").body, "page");
  EXPECT_EQ(Client(scene.proxy.port()).get("http://" + scene.a + "/file").status, 302);
}

TEST(MirrorRedirect, DoesNotLeadPastTheListsOfTheSite) {
  const TemporaryDirectory directory;
  write_file(directory / "block", "localhost\n");
  PlainHosts scene(json{{"block", {(directory / "block").string()}}});
  EXPECT_EQ(scene.client.get("/http/" + scene.a + "/file").status, 502);
  EXPECT_EQ(scene.second.count(), 0U);
}

TEST(MirrorRedirect, TakesNoLongerThanOneQuestion) {
  Redirecting scene;
  auto settings = scene.settings;
  settings["timeouts"]["first_byte"] = "600ms";
  const ProxyProcess proxy(settings);
  const auto slow = std::chrono::milliseconds(400);
  scene.origin.plain.on("/slow", Redirecting::redirect("/slower").slow(slow, 0));
  scene.origin.plain.on("/slower", cacheable("late").slow(slow, 0));
  EXPECT_EQ(MirrorClient(proxy).get(scene.path("/slow")).status, 504);
}

// A client of the proxy may go there by itself.
TEST(MirrorRedirect, PassesARedirectOutOfTheListedHostsOnToAClientOfTheProxy) {
  Redirecting scene({"unused.test"});
  Client by_proxy(scene.proxy.port());
  EXPECT_EQ(by_proxy.get(scene.origin.url("/file")).status, 302);
}

}  // namespace
}  // namespace scenario
