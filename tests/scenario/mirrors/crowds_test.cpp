// Mirrored files under crowds, crashes and changes.
#include <gtest/gtest.h>

#include "tests/scenario/mirrors/registry_scene.hpp"

namespace scenario {
namespace {

json kept_on_disk(json settings, const TemporaryDirectory& home) {
  settings["cache"]["disk"] = {
      {"path", (home.path() / "c").string()}, {"size", "64MiB"}, {"admit", "first"}};
  return settings;
}

// Runs the calls at once. Returns how many return true.
int at_once(int calls, const std::function<bool(int)>& call) {
  std::atomic<int> right = 0;
  std::vector<std::jthread> crowd;
  for (int i = 0; i < calls; ++i) {
    crowd.emplace_back([&, i] {
      if (call(i)) ++right;
    });
  }
  crowd.clear();
  return right;
}

// C4
TEST(MirrorCrowd, OfReloadsIsOneQuestion) {
  HttpsOrigin origin;
  Gate gate;
  origin.plain.on("/a", cacheable("hello").with("ETag", "\"1\""));
  const ProxyProcess proxy(origin.settings());
  const auto path = mirror_path(origin.url("/a"));
  EXPECT_EQ(MirrorClient(proxy).get(path).body, "hello");
  origin.plain.on("/a", Reply(304, {{"ETag", "\"1\""}}).wait(gate));
  const std::jthread opens([&] {
    EXPECT_TRUE(await([&] { return origin.plain.count() == 2; }));
    gate.open();
  });
  const Fields anew{{"Cache-Control", "no-cache"}};
  EXPECT_EQ(at_once(8, [&](int) { return MirrorClient(proxy).get(path, anew).body == "hello"; }),
            8);
  EXPECT_LE(origin.plain.count(), 8U);  // whoever comes after a question was sent needs another
}

// 2.12: clients name the servers of one file by turns.
TEST(MirrorCrowd, OfTwoServersClientsFetchesAFileOnce) {
  ScriptedOrigin servers[2];
  const auto file = numbered_bytes(3'000'000);
  json hosts = json::array();
  for (auto& server : servers) {
    server.otherwise([&file](const Request&) { return Reply(200).body(file); });
    hosts.push_back("127.0.0.1:" + std::to_string(server.port()));
  }
  const json rules = json::array(
      {{{"name", "files"}, {"pattern", "/files/**?*"}, {"class", "immutable"}, {"key", "path"}}});
  const json recipe{{"name", "updates"}, {"hosts", hosts}, {"rules", rules}};
  const ProxyProcess proxy(json{{"mirrors", {{"recipes", json::array({recipe})}}}});
  EXPECT_EQ(at_once(12,
                    [&](int i) {
                      const auto path = "/files/1?P4=" + std::to_string(i);
                      const auto got =
                          MirrorClient(proxy).get(mirror_path(servers[i % 2].url(path)));
                      return got.body == file;
                    }),
            12);
  EXPECT_EQ(servers[0].count() + servers[1].count(), 1U);
}

// A registry without tokens, with one blob of several blocks.
struct BlobScene {
  BlobScene() {
    origin.plain.on(path, [this](const Request& request) {
      return part_of(blob, request).with("ETag", "\"s\"").with("Cache-Control", "max-age=600");
    });
  }
  json settings() const {
    auto all = origin.settings();
    all["mirrors"]["recipes"] = json::array({"oci", "dnf"});
    all["mirrors"]["registry"] = origin.front.authority();
    return kept_on_disk(all, home);
  }

  const std::string blob = numbered_bytes(5'000'000);
  const std::string path = "/v2/team/app/blobs/" + image_digest(blob);
  HttpsOrigin origin;
  const TemporaryDirectory home;
};

// Section 4
TEST(MirroredBlob, IsWholeAfterACrashWithinItsFill) {
  BlobScene scene;
  Gate never;
  scene.origin.plain.on(scene.path, [&](const Request&) {
    return Reply(200, {{"ETag", "\"s\""}})
        .sized(scene.blob.size())
        .send(scene.blob.substr(0, 3'000'000))
        .wait(never)
        .send(scene.blob.substr(3'000'000));
  });
  {
    ProxyProcess before(scene.settings());
    MirrorClient client(before);
    client.client.send(origin_form_text(client.host, "GET", scene.path));
    EXPECT_EQ(client.client.read_head().status, 200);
    EXPECT_EQ(client.client.read_body(2'500'000), scene.blob.substr(0, 2'500'000));
    before.process().signal(SIGKILL);
    before.process().wait();
  }
  never.open();
  scene.origin.plain.on(scene.path, [&scene](const Request& request) {
    return part_of(scene.blob, request).with("ETag", "\"s\"");
  });
  const ProxyProcess after(scene.settings());
  for (int i = 0; i < 2; ++i) {
    const auto whole = MirrorClient(after).get(scene.path);
    EXPECT_TRUE(whole.whole && whole.body == scene.blob);
    EXPECT_EQ(is_hit(whole), i == 1);
  }
}

// 2.11: dnf asks for the chunks of an index that it lacks.
TEST(MirroredBlob, GivesTheManyChunksOfAnIndexByOneRequest) {
  BlobScene scene;
  const auto path = "/repo/repodata/" + sha256_of(scene.blob) + "-primary.xml.zck";
  scene.origin.plain.on(path, [&scene](const Request& request) {
    if (contains(request.field("Range"), ",")) return Reply(416);
    return part_of(scene.blob, request).with("ETag", "\"z\"");
  });
  const ProxyProcess proxy(scene.settings());
  constexpr std::size_t kChunks = 256;
  const auto step = scene.blob.size() / kChunks;
  std::string ranges;
  for (std::size_t i = 0; i < kChunks; ++i) {
    if (i > 0) ranges += ',';
    ranges += std::to_string(i * step) + '-' + std::to_string(i * step + step / 2);
  }
  const auto asked = mirror_path(scene.origin.url(path));
  const auto chunks = MirrorClient(proxy).get(asked, {{"Range", "bytes=" + ranges}});
  EXPECT_EQ(chunks.status, 206);
  std::size_t at = 0;
  for (std::size_t i = 0; i < kChunks; ++i) {
    const auto chunk = scene.blob.substr(i * step, step / 2 + 1);
    at = chunks.body.find(chunk, at);
    ASSERT_NE(at, std::string::npos) << i;
  }
  EXPECT_LE(scene.origin.plain.body_bytes_sent(), scene.blob.size());
}

// K1: tokens that end before their time, and a server of them that does not answer.
TEST(RegistryToken, IsGotAnewOnceTheRegistryRefusesIt) {
  Registry registry;
  const ProxyProcess proxy(registry.settings());
  EXPECT_EQ(MirrorClient(proxy).get(kImageBlobPath).body, kImageBlob);
  registry.tokens.otherwise(
      [](const Request&) { return cacheable(R"({"token":"second","expires_in":5})", "no-store"); });
  for (const char* name : {"one", "two"}) {
    const auto blob = std::string(1000, name[0]);
    const auto path = "/v2/team/app/blobs/" + image_digest(blob);
    registry.origin.plain.on(path, [&registry, blob](const Request& request) {
      if (request.field("Authorization") == "Bearer second") return cacheable(blob);
      return Reply(401, {{"WWW-Authenticate", "Bearer realm=\"" + registry.realm + "\""}});
    });
    EXPECT_EQ(MirrorClient(proxy).get(path).body, blob);
  }
  EXPECT_EQ(registry.tokens.count(), 2U);
}

TEST(RegistryToken, IsNotWaitedForLongerThanAFirstByte) {
  Registry registry;
  const Gate never;
  registry.tokens.otherwise([never](const Request&) { return Reply(200).wait(never); });
  auto settings = registry.settings();
  settings["timeouts"]["first_byte"] = "1s";
  const ProxyProcess proxy(settings);
  EXPECT_EQ(MirrorClient(proxy).get(kImageBlobPath).status, 504);
  EXPECT_EQ(registry.storage.count(), 0U);
}

}  // namespace
}  // namespace scenario
