// One log line per request, in Squid's native format or as JSON, written soon and to the right
// file.
#include <gtest/gtest.h>
#include <signal.h>

#include <sstream>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

TEST(AccessLog, TellsEachRequestAsSquidDoes) {
  Scene scene;
  scene.origin.on("/a", cacheable("hello").with("Content-Type", "text/plain"));
  const std::string url = scene.origin.url("/a");
  scene.client.get(url);
  scene.client.get(url);
  ASSERT_TRUE(await([&] { return scene.proxy.access_log().size() == 2; }));
  const LogLine miss = scene.proxy.access_log()[0];
  EXPECT_NEAR(miss.time, static_cast<double>(std::time(nullptr)), 30);
  EXPECT_EQ(miss.client, "127.0.0.1");
  EXPECT_EQ(miss.result, "TCP_MISS");
  EXPECT_EQ(miss.status, 200);
  EXPECT_GT(miss.bytes, 5);
  EXPECT_EQ(miss.method, "GET");
  EXPECT_EQ(miss.url, url);
  EXPECT_EQ(miss.hierarchy, "HIER_DIRECT");
  EXPECT_EQ(miss.from, "127.0.0.1");
  EXPECT_EQ(miss.type, "text/plain");
  const LogLine hit = scene.proxy.access_log()[1];
  EXPECT_EQ(hit.result, "TCP_MEM_HIT");
  EXPECT_EQ(hit.hierarchy, "HIER_NONE");
  EXPECT_EQ(hit.from, "-");
}

TEST(AccessLog, NamesWhatHappened) {
  Scene scene;
  scene.origin.on("/cut", Reply().sized(10).send("12345").cut());
  scene.origin.on("/stale", [](const Request& request) {
    if (request.has("If-None-Match")) return Reply(304);
    return cacheable("x", "max-age=0").with("ETag", "\"1\"");
  });
  Client(scene.proxy.port()).get(scene.origin.url("/cut"));
  EXPECT_TRUE(scene.proxy.logged(scene.origin.url("/cut")).result.ends_with("_ABORTED"));
  scene.client.get(scene.origin.url("/stale"));
  scene.client.get(scene.origin.url("/stale"));
  ASSERT_TRUE(await([&] { return scene.proxy.access_log().size() == 3; }));
  EXPECT_EQ(scene.proxy.logged(scene.origin.url("/stale")).result, "TCP_REFRESH_UNMODIFIED");
}

TEST(AccessLog, WritesJsonLines) {
  Scene scene(json{{"log", {{"format", "json"}}}});
  scene.origin.on("/a", cacheable("hello"));
  scene.client.get(scene.origin.url("/a"));
  std::string text;
  ASSERT_TRUE(await([&] {
    text = read_file(scene.proxy.access_log_path());
    return text.ends_with('\n');
  }));
  const json line = json::parse(text);
  EXPECT_EQ(line.at("url"), scene.origin.url("/a"));
  EXPECT_EQ(line.at("status"), 200);
  EXPECT_EQ(line.at("result"), "TCP_MISS");
  EXPECT_EQ(line.at("hierarchy"), "HIER_DIRECT");
}

TEST(AccessLog, IsOpenedAnewOnSigusr1) {
  Scene scene;
  scene.origin.otherwise([](const Request&) { return Reply().body("hello"); });
  scene.client.get(scene.origin.url("/before"));
  scene.proxy.logged(scene.origin.url("/before"));
  const auto path = scene.proxy.access_log_path();
  const auto rotated = path.parent_path() / "access.log.1";
  std::filesystem::rename(path, rotated);
  scene.proxy.process().signal(SIGUSR1);
  ASSERT_TRUE(await([&] { return std::filesystem::exists(path); }));
  scene.client.get(scene.origin.url("/after"));
  scene.proxy.logged(scene.origin.url("/after"));
  EXPECT_FALSE(contains(read_file(rotated), "/after"));
}

TEST(AccessLog, CannotBeForgedByAUrl) {
  Scene scene;
  scene.origin.otherwise([](const Request&) {
    return Reply(200, {{"Content-Type", "text/plain 0 TCP_HIT/200 forged"}}).body("x");
  });
  scene.client.get(scene.origin.url("/%0A\"\x80\xff"));
  ASSERT_TRUE(await([&] { return scene.proxy.access_log().size() == 1; }));
}

TEST(AccessLog, GoesToStandardOutputOrNowhere) {
  {
    Scene scene(json{{"log", {{"access", "stdout"}}}});
    scene.client.get(scene.origin.url("/a"));
    EXPECT_TRUE(await([&] { return contains(scene.proxy.process().output(), "HIER_DIRECT"); }));
  }
  Scene scene(json{{"log", {{"access", "none"}}}});
  scene.client.get(scene.origin.url("/a"));
  scene.proxy.terminate();
  EXPECT_FALSE(contains(scene.proxy.process().output(), "HIER_DIRECT"));
}

}  // namespace
}  // namespace scenario
