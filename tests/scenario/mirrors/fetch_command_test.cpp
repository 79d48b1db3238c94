// `hearsay fetch`: what the proxy is to have before clients ask for it.
#include <gtest/gtest.h>

#include "tests/scenario/control/steered.hpp"
#include "tests/scenario/mirrors/mirror_scene.hpp"

namespace scenario {
namespace {

struct FetchCommand {
  FetchCommand() : proxy(origin.settings()) {
    for (const char* path : {"/a", "/b"})
      origin.plain.on(path, cacheable(numbered_bytes(300'000)).with("ETag", "\"v1\""));
  }
  Outcome fetch(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"fetch", "--url", proxy.url()});
    return hearsay(arguments);
  }

  HttpsOrigin origin;
  TemporaryDirectory directory;
  ProxyProcess proxy;
};

TEST(FetchCommand, StoresTheUrlsOfItsArgumentsAndOfFiles) {
  FetchCommand scene;
  const auto list = scene.directory / "list";
  write_file(list, "# for tomorrow\n\n  " + scene.origin.url("/a") + "\r\n");
  const auto done = scene.fetch({"--parallel", "2", list.string(), scene.origin.url("/b#top")});
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_TRUE(contains(done.errors, "2 of 2 are stored, 0 failed; 586 KiB came")) << done.errors;
  MirrorClient client(scene.proxy);
  for (const char* path : {"/a", "/b"}) {
    EXPECT_TRUE(is_hit(client.get(mirror_path(scene.origin.url(path))))) << path;
  }
  EXPECT_EQ(scene.origin.plain.count(), 2U);
}

TEST(FetchCommand, GoesOnWhereItEnded) {
  FetchCommand scene;
  scene.origin.plain.on("/old", [](const Request& request) {
    auto reply = request.has("If-None-Match") ? Reply(304, {{"Cache-Control", "max-age=0"}})
                                              : cacheable(numbered_bytes(300'000), "max-age=0");
    return reply.with("ETag", "\"v1\"");
  });
  const std::vector<std::string> urls{scene.origin.url("/a"), scene.origin.url("/old")};
  EXPECT_EQ(scene.fetch(urls).exit_code, 0);
  const auto again = scene.fetch(urls);
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_TRUE(contains(again.errors, "2 of 2 are stored")) << again.errors;
  EXPECT_EQ(scene.origin.plain.count("/a"), 1U);
  EXPECT_EQ(scene.origin.plain.count("/old"), 2U);
  EXPECT_TRUE(scene.origin.plain.requests("/old").back().has("If-None-Match"));
}

TEST(FetchCommand, FollowsRedirectsAsClientsDo) {
  FetchCommand scene;
  scene.origin.plain.on("/moved", Reply(302, {{"Location", "b"}}));
  EXPECT_EQ(scene.fetch({scene.origin.url("/moved")}).exit_code, 0);
  EXPECT_EQ(scene.origin.plain.count("/b"), 1U);
}

TEST(FetchCommand, SaysWhatFailedAndWhy) {
  FetchCommand scene;
  scene.origin.plain.on("/none", Reply(404).body("no such file"));
  scene.origin.plain.on("/ours", unstorable().body("x"));
  const auto some = scene.fetch({scene.origin.url("/none"), scene.origin.url("/ours"),
                                 "ftp://a.test/x", scene.origin.url("/a")});
  EXPECT_EQ(some.exit_code, 1);
  for (const auto& why :
       {scene.origin.url("/none") + ": 404 no such file",
        scene.origin.url("/ours") + ": came, but the proxy does not store it: ",
        std::string("ftp://a.test/x: no http or https URL"), std::string("1 of 4 are stored")})
    EXPECT_TRUE(contains(some.errors, why)) << some.errors;
}

TEST(FetchCommand, TellsMisuseFromAProxyThatIsAway) {
  const ReservedPort nobody;
  const auto away = "http://127.0.0.1:" + std::to_string(nobody.port());
  EXPECT_EQ(hearsay({"fetch", "--url", away, "http://a.test/"}).exit_code, 3);
  EXPECT_EQ(hearsay({"fetch", "--url", "nonsense://x", "http://a.test/"}).exit_code, 2);
  EXPECT_EQ(hearsay({"fetch", "--url", away, "/no/such/file"}).exit_code, 2);
  EXPECT_EQ(hearsay({"fetch", "--url", away}).exit_code, 2);
  EXPECT_EQ(hearsay({"fetch", "--url", away, "--parallel", "0", "http://a.test/"}).exit_code, 2);
}

}  // namespace
}  // namespace scenario
