// Tags of images: for how long one is believed, and what it names while its registry is away.
#include <gtest/gtest.h>

#include "tests/scenario/mirrors/registry_scene.hpp"

namespace scenario {
namespace {

json tags_with_disk(const Registry& registry, const TemporaryDirectory& home) {
  auto settings = registry.settings();
  settings["cache"]["disk"] = {
      {"path", (home.path() / "c").string()}, {"size", "64MiB"}, {"admit", "first"}};
  return settings;
}

const Fields kAsDocker{{"Accept", kImageType}};
const Fields kAnew{{"Accept", kImageType}, {"Cache-Control", "no-cache"}};

// C3
TEST(ImageTag, OutlivesARestartWhileItsRegistryIsAway) {
  for (const int status : {429, 503, 0}) {
    Registry registry;
    const TemporaryDirectory home;
    const auto settings = tags_with_disk(registry, home);
    {
      ProxyProcess before(settings);
      EXPECT_EQ(MirrorClient(before).get(kImageTag, kAsDocker).body, kImageText);
      EXPECT_EQ(before.terminate(), 0);
    }
    const ProxyProcess after(settings);
    MirrorClient client(after);
    registry.go_away(status == 0 ? 503 : status);
    if (status == 0) registry.origin.front.stop();
    for (const char* method : {"GET", "HEAD"}) {
      const auto stale = client.request(method, kImageTag, kAsDocker);
      EXPECT_EQ(stale.status, 200) << status << method;
      EXPECT_EQ(stale.field("Docker-Content-Digest"), image_digest(kImageText));
      EXPECT_TRUE(stale.has("Age"));
      EXPECT_TRUE(contains(nearest_cache_status(stale), "stale-if-error/tag"));
    }
    EXPECT_EQ(client.get(kImageTag, kAsDocker).body, kImageText);
    // Another form of the manifest is unknown.
    EXPECT_NE(client.get(kImageTag, {{"Accept", "text/plain"}}).status, 200);
    if (status == 0) continue;
    registry.go_away(0);
    registry.tag(kNewerImage);
    EXPECT_EQ(client.get(kImageTag, kAnew).body, kNewerImage);
  }
}

TEST(ImageTag, NamesNothingAfterARestartIfItsRegistryHasItNoMore) {
  Registry registry;
  const TemporaryDirectory home;
  const auto settings = tags_with_disk(registry, home);
  {
    ProxyProcess before(settings);
    MirrorClient client(before);
    EXPECT_EQ(client.get(kImageTag, kAsDocker).body, kImageText);
    registry.origin.plain.on(kImageTag, Reply(404));
    EXPECT_EQ(client.get(kImageTag, kAnew).status, 404);
    EXPECT_EQ(before.terminate(), 0);
  }
  const ProxyProcess after(settings);
  registry.origin.front.stop();
  EXPECT_EQ(MirrorClient(after).get(kImageTag, kAsDocker).status, 504);
}

TEST(ImageTag, IsToldByANeighbourWhileItsRegistryIsAway) {
  Registry registry;
  const Neighbours site(registry.settings());
  EXPECT_EQ(MirrorClient(site.a).get(kImageTag, kAsDocker).body, kImageText);
  ASSERT_TRUE(site.b_knows(2));
  registry.origin.front.stop();
  const auto told = MirrorClient(site.b).get(kImageTag, kAsDocker);
  EXPECT_EQ(told.body, kImageText);
  EXPECT_TRUE(contains(nearest_cache_status(told), "stale-if-error/tag"));
  EXPECT_EQ(MirrorClient(site.b).get(kImageTag, {{"Accept", "text/plain"}}).status, 504);
}

TEST(ImageTag, OfAnImageForItsUsersIsToldToNobody) {
  Registry registry;
  const Neighbours site(registry.settings());
  const std::string path = "/v2/team/secret/manifests/v1";
  const Fields own{{"Accept", kImageType}, {"Authorization", "Bearer open-sesame"}};
  EXPECT_EQ(MirrorClient(site.a).get(path, own).status, 200);
  registry.origin.front.stop();
  EXPECT_NE(MirrorClient(site.a).get(path, kAsDocker).status, 200);
  EXPECT_NE(MirrorClient(site.b).get(path, kAsDocker).status, 200);
}

TEST(ImageTag, IsBelievedForItsTime) {
  Registry registry;
  auto settings = registry.settings();
  settings["rules"] = json::array({{{"name", "tags"},
                                    {"host", "127.0.0.1"},
                                    {"pattern", "/v2/**/manifests/v*"},
                                    {"class", "1s"}}});
  const ProxyProcess proxy(settings);
  MirrorClient client(proxy);
  EXPECT_EQ(client.get(kImageTag, kAsDocker).body, kImageText);
  registry.tag(kNewerImage);
  EXPECT_TRUE(await([&] { return client.get(kImageTag, kAsDocker).body == kNewerImage; }));
}

// As a client pulls an image for one platform of several.
TEST(ImageTag, NamesAnIndexThatNamesThePlatformsManifest) {
  Registry registry;
  const std::string type = "application/vnd.oci.image.index.v1+json";
  const auto index =
      R"({"manifests":[{"digest":")" + image_digest(kImageText) + R"(","platform":{}}]})";
  const auto by_digest = "/v2/team/app/manifests/" + image_digest(index);
  for (const auto& path : {kImageTag, by_digest}) {
    registry.origin.plain.on(
        path, Reply(200, {{"Content-Type", type}, {"Docker-Content-Digest", image_digest(index)}})
                  .body(index));
  }
  const ProxyProcess proxy(registry.settings());
  MirrorClient client(proxy);
  const Fields accept{{"Accept", type + ", " + kImageType}};
  for (const bool is_again : {false, true}) {
    const auto first = client.get(kImageTag, accept);
    EXPECT_EQ(first.body, index);
    EXPECT_EQ(first.field("Content-Type"), type);
    const auto second = client.get(kImageByDigest, accept);
    EXPECT_EQ(second.body, kImageText);
    EXPECT_EQ(second.field("Content-Type"), kImageType);
    EXPECT_EQ(is_hit(first) && is_hit(second), is_again);
  }
}

}  // namespace
}  // namespace scenario
