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
  scene.client.get(scene.path("/file"), {{"Authorization", "Bearer x"}, {"Cookie", "a=b"}});
  EXPECT_EQ(scene.origin.plain.requests("/file").at(0).field("Authorization"), "Bearer x");
  const auto asked = scene.storage.requests().at(0);
  EXPECT_FALSE(asked.has("Authorization") || asked.has("Cookie"));
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

// A client of the proxy may go there by itself.
TEST(MirrorRedirect, PassesARedirectOutOfTheListedHostsOnToAClientOfTheProxy) {
  Redirecting scene({"unused.test"});
  Client by_proxy(scene.proxy.port());
  EXPECT_EQ(by_proxy.get(scene.origin.url("/file")).status, 302);
}

}  // namespace
}  // namespace scenario
