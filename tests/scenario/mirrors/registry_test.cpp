// Images of a registry that wants a token, and redirects to a storage by signed URLs.
#include <gtest/gtest.h>

#include "tests/scenario/mirrors/registry_scene.hpp"

namespace scenario {
namespace {

TEST(RegistryMirror, PullsByTagThenByDigestWithOneToken) {
  Registry registry;
  RegistryMirrorScene mirror(registry);
  auto& client = mirror.client;
  const auto head = client.request("HEAD", kImageTag, {{"Accept", kImageType}});
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.field("Docker-Content-Digest"), image_digest(kImageText));
  for (const auto& path : {kImageTag, kImageByDigest, kImageTag}) {
    const auto manifest = client.get(path, {{"Accept", kImageType}});
    EXPECT_EQ(manifest.status, 200) << path;
    EXPECT_EQ(manifest.body, kImageText);
    EXPECT_EQ(manifest.field("Content-Type"), kImageType);
    EXPECT_EQ(manifest.field("Docker-Content-Digest"), image_digest(kImageText));
  }
  for (int i = 0; i < 2; ++i) {
    const auto blob = client.get(kImageBlobPath);
    EXPECT_EQ(blob.body, kImageBlob);
    EXPECT_EQ(blob.field("Docker-Content-Digest"), image_digest(kImageBlob));
    EXPECT_EQ(is_hit(blob), i == 1);
  }
  EXPECT_EQ(client.get(kImageBlobPath, {{"Range", "bytes=0-4"}}).status, 206);
  EXPECT_EQ(registry.gets(kImageTag), 0U);  // which some registries count
  EXPECT_EQ(registry.gets(kImageByDigest), 1U);
  EXPECT_EQ(registry.storage.count(), 1U);
  EXPECT_EQ(registry.tokens.count(), 1U);
  for (const char* secret : {"open-sesame", "sig=secret"}) {
    EXPECT_FALSE(contains(read_file(mirror.proxy.access_log_path()), secret));
    EXPECT_FALSE(contains(mirror.proxy.page("/admin/cache/list").body, secret));
  }
}

TEST(RegistryMirror, FindsTheRegistryByParameterAndByPath) {
  Registry registry;
  auto settings = registry.settings();
  settings["mirrors"].erase("registry");
  const ProxyProcess proxy(settings);
  MirrorClient client(proxy);
  const auto name = registry.origin.front.authority();
  const auto by_path =
      client.get("/v2/" + name + "/team/app/manifests/v1", {{"Accept", kImageType}});
  EXPECT_EQ(by_path.body, kImageText);
  EXPECT_FALSE(by_path.has("OCI-Namespace"));
  const auto by_parameter = client.get(kImageTag + "?ns=" + name, {{"Accept", kImageType}});
  EXPECT_EQ(by_parameter.body, kImageText);
  EXPECT_TRUE(is_hit(by_parameter));
  EXPECT_EQ(by_parameter.field("OCI-Namespace"), name);
  for (const auto& request : registry.origin.plain.requests()) {
    EXPECT_FALSE(contains(request.target, "ns="));
  }
}

// Older Docker, and Ollama, which can't name a registry.
TEST(RegistryMirror, HasARegistryForEachHostAndListener) {
  Registry registry;
  const ReservedPort port;
  const auto address = "127.0.0.1:" + std::to_string(port.port());
  auto settings = registry.settings();
  const auto name = settings["mirrors"]["registry"];
  settings["mirrors"]["registry"] = "other.example";
  settings["mirrors"]["registries"] = {{"localhost", name}};
  settings["listen"] = {"127.0.0.1:0", {{"address", address}, {"registry", name}}};
  const ProxyProcess proxy(settings);
  MirrorClient client(proxy);
  EXPECT_EQ(client.get(kImageTag, {{"Accept", kImageType}}).status, 404);
  client.host = "localhost";
  EXPECT_EQ(client.get(kImageTag, {{"Accept", kImageType}}).body, kImageText);
  Client at_listener(port.port());
  at_listener.send(origin_form_text(address, "GET", kImageTag, {{"Accept", kImageType}}));
  EXPECT_EQ(at_listener.read("GET").body, kImageText);
}

// Ollama: HEAD, a GET that it drops after the head, then ranges at once.
TEST(RegistryMirror, FetchesARangeAtATimeForWhoeverDroppedTheWhole) {
  Registry registry;
  registry.storage.otherwise([](const Request& request) {
    const auto range = request.field("Range");
    if (range.empty()) return cacheable(kImageBlob).with("ETag", "\"b\"");
    const auto first = std::stoul(range.substr(6));
    const auto dash = range.find('-');
    const auto last =
        dash + 1 < range.size() ? std::stoul(range.substr(dash + 1)) : kImageBlob.size();
    const auto end = std::min(last + 1, kImageBlob.size());
    return Reply(206, {{"ETag", "\"b\""},
                       {"Content-Range", "bytes " + std::to_string(first) + '-' +
                                             std::to_string(end - 1) + '/' +
                                             std::to_string(kImageBlob.size())}})
        .body(kImageBlob.substr(first, end - first));
  });
  RegistryMirrorScene mirror(registry);
  const auto head = mirror.client.request("HEAD", kImageBlobPath);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.field("Content-Length"), std::to_string(kImageBlob.size()));
  {
    MirrorClient dropped(mirror.proxy);
    dropped.client.send(origin_form_text(dropped.host, "GET", kImageBlobPath));
    EXPECT_TRUE(await([&] { return registry.storage.count() >= 2; }));
  }
  std::vector<std::jthread> parts;
  std::atomic<int> right = 0;
  constexpr std::size_t kParts = 16;
  const auto size = kImageBlob.size() / kParts;
  for (std::size_t i = 0; i < kParts; ++i) {
    parts.emplace_back([&, first = i * size] {
      const auto range = std::to_string(first) + '-' + std::to_string(first + size - 1);
      const auto part =
          MirrorClient(mirror.proxy).get(kImageBlobPath, {{"Range", "bytes=" + range}});
      if (part.status == 206 && part.body == kImageBlob.substr(first, size)) ++right;
    });
  }
  parts.clear();
  EXPECT_EQ(right, 16);
}

TEST(RegistryMirror, IsNoRegistryOfWhatItsSettingsDoNotName) {
  Registry registry;
  RegistryMirrorScene mirror(registry);
  const auto ping = mirror.client.get("/v2/");
  EXPECT_EQ(ping.status, 200);
  EXPECT_EQ(ping.body, "{}");
  EXPECT_EQ(ping.field("Docker-Distribution-Api-Version"), "registry/2.0");
  EXPECT_FALSE(ping.has("WWW-Authenticate"));
  const auto unknown = mirror.client.get(kImageTag + "?ns=other.example");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.field("Content-Type"), "application/json");
  const auto error = json::parse(unknown.body).at("errors").at(0);
  EXPECT_EQ(error.at("code"), "NAME_UNKNOWN");
  EXPECT_TRUE(contains(error.at("message").get<std::string>(), "mirrors.hosts"));
  for (const char* path : {"/v2/team/app/blobs/sha256:12", "/v2/team/../manifests/v1"}) {
    EXPECT_EQ(mirror.client.get(path).status, 400) << path;
  }
  EXPECT_EQ(registry.origin.plain.count(), 0U);
  const ProxyProcess other(registry.origin.settings());
  EXPECT_EQ(MirrorClient(other).get("/v2/").status, 404);
}

TEST(RegistryMirror, KnowsNoImageThatNotEverybodyMayHave) {  // K5
  Registry registry;
  RegistryMirrorScene mirror(registry);
  for (const char* method : {"GET", "HEAD"}) {
    for (const auto& path : {std::string("/v2/team/secret/manifests/v1"),
                             "/v2/team/secret/blobs/" + image_digest(kImageBlob)}) {
      const auto answer = mirror.client.request(method, path);
      EXPECT_EQ(answer.status, 404) << method << path;
      EXPECT_FALSE(answer.has("WWW-Authenticate"));
      if (std::string(method) == "HEAD") continue;
      EXPECT_EQ(json::parse(answer.body).at("errors").at(0).at("code"), "NAME_UNKNOWN");
    }
  }
  EXPECT_EQ(registry.tokens.count(), 1U);
}

TEST(RegistryMirror, AsksNobodyElseForAToken) {  // K2
  Registry registry;
  const TlsFront unlisted(registry.origin.authority, "IP:127.0.0.1", registry.tokens.port());
  RegistryMirrorScene mirror(registry);
  for (const auto& realm :
       {std::string("https://169.254.169.254/latest"), std::string("https://other.example/token"),
        "http://127.0.0.1:" + std::to_string(registry.tokens.port()), unlisted.url("/token")}) {
    registry.realm = realm;
    EXPECT_EQ(mirror.client.get(kImageBlobPath, {{"Cache-Control", "no-cache"}}).status, 404)
        << realm;
  }
  EXPECT_EQ(registry.tokens.count(), 0U);
}

TEST(RegistryMirror, SeesThatATagHasMoved) {
  Registry registry;
  RegistryMirrorScene mirror(registry);
  EXPECT_EQ(mirror.client.get(kImageTag).body, kImageText);
  registry.tag(kNewerImage);
  EXPECT_EQ(mirror.client.get(kImageTag).body, kImageText);  // for a minute
  EXPECT_EQ(mirror.client.get(kImageTag, {{"Cache-Control", "no-cache"}}).body, kNewerImage);
  EXPECT_EQ(mirror.client.get(kImageTag).body, kNewerImage);
}

TEST(RegistryMirror, ServesWhatItHasWhileTheRegistryIsAway) {  // C3
  for (const int status : {429, 503, 0}) {
    Registry registry;
    RegistryMirrorScene mirror(registry);
    EXPECT_EQ(mirror.client.get(kImageTag).body, kImageText);
    EXPECT_EQ(mirror.client.get(kImageBlobPath).body, kImageBlob);
    registry.go_away(status);
    if (status == 0) registry.origin.front.stop();
    EXPECT_EQ(mirror.client.get(kImageTag, {{"Cache-Control", "max-age=0"}}).body, kImageText)
        << status;
    EXPECT_EQ(mirror.client.get(kImageByDigest).body, kImageText) << status;
    EXPECT_EQ(mirror.client.get(kImageBlobPath).body, kImageBlob) << status;
  }
}

TEST(RegistryMirror, ExplainsWhatATagNames) {
  Registry registry;
  RegistryMirrorScene mirror(registry);
  const auto explained = [&] {
    const auto url = "http://" + mirror.proxy.address() + kImageTag;
    return json::parse(mirror.proxy.page("/admin/explain?url=" + url).body);
  };
  EXPECT_EQ(explained().at("tag"), "v1 names no known digest");
  mirror.client.get(kImageTag, {{"Accept", kImageType}});
  const auto told = explained();
  const auto tag = told.at("tag").get<std::string>();
  EXPECT_TRUE(tag.starts_with("v1 names " + image_digest(kImageText) + ", held since 20")) << tag;
  EXPECT_TRUE(contains(tag, ", checked ") && tag.ends_with(" ago")) << tag;
  EXPECT_EQ(told.at("action"), "serve") << told.dump(2);
  EXPECT_EQ(told.at("recipe"), "oci");
  EXPECT_EQ(registry.gets(kImageByDigest), 1U);
}

TEST(RegistryMirror, ExplainsUnderWhichUrlABlobIsStored) {
  Registry registry;
  RegistryMirrorScene mirror(registry);
  mirror.client.get(kImageBlobPath);
  const auto explained = [&](const std::string& path) {
    const auto url = "http://" + mirror.proxy.address() + path;
    return json::parse(mirror.proxy.page("/admin/explain?url=" + url).body);
  };
  const auto other = explained("/v2/open/one/blobs/" + image_digest(kImageBlob));
  EXPECT_EQ(other.at("body"), registry.origin.url(kImageBlobPath));
  EXPECT_TRUE(explained(kImageBlobPath).at("body").is_null());
}

TEST(RegistryMirror, IsCountedAndItsLastFailureTold) {
  Registry registry;
  RegistryMirrorScene mirror(registry);
  for (int i = 0; i < 3; ++i) mirror.client.get(kImageBlobPath);
  registry.go_away(503);
  mirror.client.get("/v2/team/app/blobs/" + image_digest("other"));
  const auto told = json::parse(mirror.proxy.page("/digest").body).at("mirrors");
  ASSERT_EQ(told.size(), 1U) << told.dump();
  EXPECT_EQ(told[0].at("recipe"), "oci");
  EXPECT_EQ(told[0].at("requests"), 4);
  EXPECT_EQ(told[0].at("hits"), 2);
  EXPECT_GT(told[0].at("bytes_saved"), 2 * kImageBlob.size());
  EXPECT_EQ(told[0].at("last_failure"), "127.0.0.1: 503");
  EXPECT_TRUE(contains(mirror.proxy.page("/metrics").body,
                       "hearsay_mirror_hits_total{recipe=\"oci\"} 2\n"));
}

TEST(RegistryMirror, AsksABusyTokenServerOnceForACrowd) {
  Registry registry;
  Gate gate;
  registry.tokens.otherwise([gate](const Request&) {
    return Reply(429, {{"Retry-After", "7"}}).wait(gate);
  });
  const RegistryMirrorScene mirror(registry);
  constexpr std::size_t kCrowd = 8;
  std::vector<std::jthread> crowd;
  std::atomic<std::size_t> told = 0;
  for (std::size_t i = 0; i < kCrowd; ++i) {
    crowd.emplace_back([&, path = "/v2/team/app/blobs/" + image_digest(std::to_string(i))] {
      const auto answer = MirrorClient(mirror.proxy).get(path);
      if (answer.status == 429 && answer.field("Retry-After") == "7") ++told;
    });
  }
  EXPECT_TRUE(await([&] { return registry.origin.plain.count() == kCrowd; }));
  gate.open();
  crowd.clear();
  EXPECT_EQ(told, kCrowd);
  EXPECT_LE(registry.tokens.count(), 3U);  // the last may have begun to ask after the answer
}

TEST(RegistryMirror, GivesACrowdOneBlobForOneToken) {
  Registry registry;
  const RegistryMirrorScene mirror(registry);
  std::vector<std::jthread> crowd;
  std::atomic<int> whole = 0;
  for (int i = 0; i < 20; ++i) {
    crowd.emplace_back([&] {
      if (MirrorClient(mirror.proxy).get(kImageBlobPath).body == kImageBlob) ++whole;
    });
  }
  crowd.clear();
  EXPECT_EQ(whole, 20);
  EXPECT_EQ(registry.storage.count(), 1U);
  EXPECT_EQ(registry.tokens.count(), 1U);
}

TEST(RegistryMirror, SharesImagesWithItsNeighbour) {
  Registry registry;
  const Neighbours site(registry.settings());
  MirrorClient a(site.a);
  EXPECT_EQ(a.get(kImageTag).body, kImageText);
  EXPECT_EQ(a.get(kImageBlobPath).body, kImageBlob);
  ASSERT_TRUE(site.b_knows(4));  // two URLs, the digest of the blob, and the tag
  MirrorClient b(site.b);
  EXPECT_EQ(b.get(kImageTag).body, kImageText);
  registry.origin.front.stop();
  EXPECT_EQ(b.get(kImageTag).body, kImageText);
  EXPECT_EQ(b.get(kImageBlobPath).body, kImageBlob);
  EXPECT_EQ(registry.gets(kImageByDigest), 1U);
  EXPECT_EQ(registry.storage.count(), 1U);
}

// A manifest has a media type, which its digest does not tell.
TEST(RegistryMirror, FetchesABlobOnceForAllRepositoriesAndNeighbours) {
  Registry registry;
  const Neighbours site(registry.settings());
  MirrorClient a(site.a);
  for (const char* repository : {"open/one", "open/two", "open/six"}) {
    const auto name = std::string("/v2/") + repository;
    const auto blob = a.get(name + "/blobs/" + image_digest(kImageBlob));
    EXPECT_EQ(blob.body, kImageBlob);
    EXPECT_EQ(blob.field("Docker-Content-Digest"), image_digest(kImageBlob));
    EXPECT_EQ(a.get(name + "/manifests/" + image_digest(kImageText)).field("Content-Type"),
              kImageType);
  }
  EXPECT_EQ(registry.storage.count(), 1U);
  EXPECT_EQ(registry.origin.plain.count("/v2/open/six/manifests/" + image_digest(kImageText)), 2U);
  ASSERT_TRUE(site.b_knows(5));
  const auto given = MirrorClient(site.b).get("/v2/open/for/blobs/" + image_digest(kImageBlob));
  EXPECT_EQ(given.body, kImageBlob);
  EXPECT_TRUE(contains(nearest_cache_status(given), "peer/a")) << nearest_cache_status(given);
  EXPECT_EQ(registry.storage.count(), 1U);
}

TEST(RegistryMirror, CutsABlobThatHasAnotherDigestAndStoresNone) {
  Registry registry;
  auto wrong = kImageBlob;
  wrong.back() = 'c';
  registry.storage.otherwise([&](const Request&) { return cacheable(wrong); });
  RegistryMirrorScene mirror(registry);
  EXPECT_FALSE(mirror.client.get(kImageBlobPath).whole);
  registry.storage.otherwise([](const Request&) { return cacheable(kImageBlob); });
  MirrorClient again(mirror.proxy);
  const auto blob = again.get(kImageBlobPath);
  EXPECT_EQ(blob.body, kImageBlob);
  EXPECT_FALSE(is_hit(blob));
  EXPECT_FALSE(contains(mirror.proxy.process().errors(), "sig=secret"));
}

}  // namespace
}  // namespace scenario
