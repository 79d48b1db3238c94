// Purged and invalidated responses do not come back after a crash.
#include <gtest/gtest.h>

#include "tests/scenario/disk/disk_scene.hpp"

namespace scenario {
namespace {

class PurgedFromDisk : public testing::Test, public DiskScene {
 protected:
  PurgedFromDisk() {
    origin.otherwise([](const Request& request) { return cacheable("of " + request.path); });
    origin.on("/varying", [](const Request& request) {
      return cacheable("for " + request.field("X-A")).with("Vary", "X-A");
    });
  }
  // Stores the paths and restarts the proxy, so that they are on disk alone.
  void store_on_disk(const std::vector<std::string>& paths) {
    for (const auto& path : paths) get(path);
    settle(paths.size());
    crash();
  }
  Response order(const json& body) {
    return proxy().page("/admin/purge", kOnPurpose, "POST", body.dump());
  }
};

TEST_F(PurgedFromDisk, AUrlIsGoneAtOnceAndAfterACrash) {
  store_on_disk({"/a", "/b"});
  const Response answer = ask("PURGE", "/a", kOnPurpose);
  EXPECT_EQ(json::parse(answer.body).at("purged"), 1);
  EXPECT_FALSE(holds("/a"));
  EXPECT_EQ(ask("PURGE", "/a", kOnPurpose).status, 404);
  crash();
  EXPECT_FALSE(holds("/a"));
  EXPECT_TRUE(holds("/b"));
}

TEST_F(PurgedFromDisk, AVariantStoredAfterwardsDoesNotLeadToEarlierOnes) {
  for (const char* value : {"1", "2"}) get("/varying", {{"X-A", value}});
  settle(4);
  crash();
  ask("PURGE", "/varying", kOnPurpose);
  get("/varying", {{"X-A", "1"}});
  settle(3);
  crash();
  EXPECT_TRUE(holds("/varying", {{"X-A", "1"}}));
  EXPECT_FALSE(holds("/varying", {{"X-A", "2"}}));
}

TEST_F(PurgedFromDisk, APrefixIsGoneAtOnceAndAfterACrash) {
  store_on_disk({"/a", "/a/b", "/a/c", "/ab"});
  EXPECT_EQ(order(json{{"prefix", origin.url("/a/")}}).status, 200);
  for (const char* path : {"/a/b", "/a/c"}) EXPECT_FALSE(holds(path)) << path;
  crash();
  for (const char* path : {"/a/b", "/a/c"}) EXPECT_FALSE(holds(path)) << path;
  for (const char* path : {"/a", "/ab"}) EXPECT_TRUE(holds(path)) << path;
  EXPECT_TRUE(await([&] { return proxy().digest().at("entries") == 2; }));
  get("/a/b");
  settle(1);
  crash();
  EXPECT_TRUE(holds("/a/b")) << "stored after the purge";
}

TEST_F(PurgedFromDisk, AHostIsGoneAtOnceAndAfterACrash) {
  store_on_disk({"/a", "/b"});
  const auto port = std::to_string(origin.port());
  EXPECT_EQ(order(json{{"host", "*.example.com"}}).status, 200);
  EXPECT_EQ(order(json{{"host", "127.0.0.1:1"}}).status, 200);
  EXPECT_TRUE(holds("/a"));
  EXPECT_EQ(order(json{{"host", "127.0.0.1:" + port}}).status, 200);
  EXPECT_FALSE(holds("/a"));
  crash();
  for (const char* path : {"/a", "/b"}) EXPECT_FALSE(holds(path)) << path;
}

TEST_F(PurgedFromDisk, AnInvalidatedResponseIsFetchedAgain) {
  store_on_disk({"/a", "/l"});
  origin.on("/a", Reply(201, {{"Location", origin.url("/l")}}));
  ask("POST", "/a", {}, "x");
  for (const char* path : {"/a", "/l"}) EXPECT_FALSE(holds(path)) << path;
  crash();
  for (const char* path : {"/a", "/l"}) EXPECT_FALSE(holds(path)) << path;
}

TEST_F(PurgedFromDisk, AFetchUnderWayIsNotStored) {
  Gate gate;
  origin.on(
      "/slow",
      Reply(200, {{"Cache-Control", "max-age=60"}}).sized(4).send("ol").wait(gate).send("d!"));
  Client client(proxy().port());
  client.send(request_text("GET", origin.url("/slow")));
  client.read_head();
  ask("PURGE", "/slow", kOnPurpose);
  gate.open();
  EXPECT_EQ(client.read_body(4), "old!");
  get("/after");
  settle(1);
  restart();
  EXPECT_TRUE(holds("/after"));
  EXPECT_FALSE(holds("/slow"));
}

TEST_F(PurgedFromDisk, AResponseThatForbidsStoringRemovesTheStoredOne) {
  store_on_disk({"/a"});
  origin.on("/a", Reply(200, {{"Cache-Control", "no-store"}}).body("secret"));
  EXPECT_EQ(get("/a", {{"Cache-Control", "no-cache"}}).body, "secret");
  EXPECT_FALSE(holds("/a"));
  settle(1);
  restart();
  EXPECT_FALSE(holds("/a"));
}

}  // namespace
}  // namespace scenario
