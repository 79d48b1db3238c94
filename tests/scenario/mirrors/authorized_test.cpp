// Clients with credentials get what is stored for everybody, once the origin says that they may.
#include <gtest/gtest.h>

#include "tests/scenario/mirrors/hub_scene.hpp"
#include "tests/scenario/mirrors/registry_scene.hpp"

namespace scenario {
namespace {

Fields bearing(const std::string& token, const Fields& others = {}) {
  Fields fields{{"Authorization", "Bearer " + token}};
  fields.insert(fields.end(), others.begin(), others.end());
  return fields;
}

const std::string kWeights = numbered_bytes(300'000);

struct HubOfUsers {
  HubOfUsers() : hub(kWeights), proxy(hub.settings()), client(proxy) {}

  // What the hub has been asked since, each as "METHOD credentials".
  std::vector<std::string> asked_since(std::size_t count) const {
    std::vector<std::string> asked;
    const auto all = hub.origin.plain.requests();
    for (auto i = count; i < all.size(); ++i)
      asked.push_back(all[i].method + " " + all[i].field("Authorization"));
    return asked;
  }

  Hub hub;
  ProxyProcess proxy;
  MirrorClient client;
};

// K4
TEST(Authorized, UsersGetAStoredFileAfterTheHubsWord) {
  for (const auto& revision : {std::string("main"), kCommit}) {
    HubOfUsers scene;
    const auto path = "/hf/o/r/resolve/" + revision + "/model.bin";
    EXPECT_EQ(scene.client.get(path).body, kWeights);
    const auto asked = scene.hub.origin.plain.count();
    const auto file = scene.client.get(path, bearing("mine"));
    EXPECT_TRUE(file.body == kWeights);
    EXPECT_TRUE(is_hit(file)) << nearest_cache_status(file);
    EXPECT_TRUE(contains(file.field("Cache-Control"), "private"));
    EXPECT_EQ(scene.asked_since(asked), std::vector<std::string>{"HEAD Bearer mine"});
    const auto rest = scene.client.get(path, bearing("mine", {{"Range", "bytes=299990-"}}));
    EXPECT_EQ(rest.status, 206);
    EXPECT_EQ(rest.body, kWeights.substr(299'990));
    const auto etag = '"' + sha256_of(kWeights) + '"';
    EXPECT_EQ(scene.client.get(path, bearing("mine", {{"If-None-Match", etag}})).status, 304);
    EXPECT_EQ(scene.hub.storage.count(), 1U);
  }
}

TEST(Authorized, UsersGetTheHubsOwnAnswerWhereItDiffers) {
  HubOfUsers scene;
  const auto path = "/o/r/resolve/" + kCommit + "/model.bin";
  EXPECT_EQ(scene.client.get("/hf" + path).body, kWeights);
  for (const unsigned status : {401U, 403U, 404U}) {
    scene.hub.origin.plain.on(path, Reply(status).body("no"));
    const auto refused = scene.client.get("/hf" + path, bearing("bad"));
    EXPECT_EQ(refused.status, status);
    EXPECT_EQ(refused.body, "no");
  }
  scene.hub.origin.plain.on(path, Reply(200, {{"ETag", "\"own\""}}).body("their own"));
  EXPECT_EQ(scene.client.get("/hf" + path, bearing("mine")).body, "their own");
  EXPECT_TRUE(scene.client.get("/hf" + path).body == kWeights);
}

TEST(Authorized, UsersGetWhatAnybodyMayHaveWhileTheHubIsAway) {
  HubOfUsers scene;
  const auto open = "/hf/o/r/resolve/" + kCommit + "/model.bin";
  EXPECT_TRUE(scene.client.get(open).body == kWeights);
  scene.client.get("/hf/o/gated/resolve/" + kCommit + "/model.bin", bearing("theirs"));
  scene.hub.leave();
  EXPECT_TRUE(scene.client.get(open, bearing("mine")).body == kWeights);
  for (const auto& fields : {bearing("theirs"), Fields{}})
    EXPECT_NE(scene.client.get("/hf/o/gated/resolve/" + kCommit + "/model.bin", fields).status,
              200);
}

TEST(Authorized, UsersGetAStoredBlobFromWhicheverRepositoryTheyMayRead) {
  Registry registry;
  const ProxyProcess proxy(registry.settings());
  MirrorClient client(proxy);
  EXPECT_EQ(client.get(kImageBlobPath).body, kImageBlob);
  for (const auto& repository : {"team/app", "team/secret"}) {
    const auto path = std::string("/v2/") + repository + "/blobs/" + image_digest(kImageBlob);
    const auto blob = client.get(path, bearing("open-sesame"));
    EXPECT_EQ(blob.body, kImageBlob);
    EXPECT_TRUE(is_hit(blob)) << nearest_cache_status(blob);
    EXPECT_EQ(client.get(path, bearing("wrong")).status, 401);
  }
  std::size_t bodies = 0;
  for (const auto& request : registry.storage.requests()) {
    EXPECT_FALSE(request.has("Authorization"));
    bodies += request.method == "GET" ? 1 : 0;
  }
  EXPECT_EQ(bodies, 1U);
  registry.origin.front.stop();
  EXPECT_NE(client.get("/v2/team/secret/blobs/" + image_digest(kImageBlob), bearing("open-sesame"))
                .status,
            200);
}

}  // namespace
}  // namespace scenario
