// Images of a registry that wants a token, and redirects to a storage by signed URLs.
#include <gtest/gtest.h>
#include <openssl/sha.h>

#include <mutex>

#include "tests/scenario/mirrors/mirror_scene.hpp"

namespace scenario {
namespace {

std::string digest_of(const std::string& body) {
  unsigned char bytes[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(body.data()), body.size(), bytes);
  std::string hex;
  for (const auto byte : bytes) {
    for (const auto digit : {byte >> 4, byte & 15}) hex += "0123456789abcdef"[digit];
  }
  return "sha256:" + hex;
}

const std::string kBlob(100'000, 'b');
const std::string kImage = R"({"schemaVersion":2})";
const std::string kNewer = R"({"schemaVersion":2,"newer":true})";
const std::string kType = "application/vnd.oci.image.manifest.v1+json";

// Has the repository team/app for everybody with a token, and gives nobody a token for any other.
struct Registry {
  Registry()
      : storage_front(origin.authority, "IP:127.0.0.1", storage.port()),
        tokens_front(origin.authority, "IP:127.0.0.1", tokens.port()),
        realm(tokens_front.url("/token")) {
    origin.plain.otherwise([this](const Request& request) { return answer(request); });
    tokens.otherwise([](const Request& request) {
      const bool is_open = request.target == "/token?service=reg&scope=repository:team/app:pull" ||
                           contains(request.target, "scope=repository:open/");
      return is_open ? cacheable(R"({"token":"open-sesame","expires_in":300})", "no-store")
                     : Reply(401);
    });
    storage.otherwise([](const Request& request) {
      return request.has("Authorization") ? Reply(400) : cacheable(kBlob);
    });
  }

  json settings() const {
    auto all = origin.settings(
        {origin.front.authority(), storage_front.authority(), tokens_front.authority()});
    all["mirrors"]["recipes"] = json::array({"oci"});
    all["mirrors"]["registry"] = origin.front.authority();
    return all;
  }
  std::size_t gets(const std::string& path) const {
    std::size_t count = 0;
    for (const auto& request : origin.plain.requests(path))
      count += request.method == "GET" ? 1 : 0;
    return count;
  }
  void tag(const std::string& manifest) {
    const std::lock_guard lock(mutex_);
    tagged_ = manifest;
  }
  void go_away(int status) { away_ = status; }

  HttpsOrigin origin;
  ScriptedOrigin storage;
  ScriptedOrigin tokens;
  TlsFront storage_front;
  TlsFront tokens_front;
  std::string realm;  // of its challenge

 private:
  Reply answer(const Request& request) {
    if (away_ != 0) return Reply(away_);
    if (request.field("Authorization") != "Bearer open-sesame") {
      const auto name = request.target.substr(4, request.target.find('/', 9) - 4);
      return Reply(401, {{"WWW-Authenticate", "Bearer realm=\"" + realm + "\",service=\"reg\"," +
                                                  "scope=\"repository:" + name + ":pull\""}});
    }
    const auto reference = request.target.substr(request.target.rfind('/') + 1);
    if (reference == digest_of(kBlob)) {
      // Each repository has a signature of its own.
      const auto repository = request.target.substr(4, 8);
      const auto signature = contains(repository, "team") ? "secret" : repository;
      return Reply(307, {{"Location", storage_front.url("/b?sig=" + signature)}});
    }
    const std::lock_guard lock(mutex_);
    const auto& manifest = reference == "v1" || reference == digest_of(tagged_) ? tagged_ : kImage;
    const bool is_known = reference == "v1" || reference == digest_of(manifest);
    if (!is_known) return Reply(404).body(R"({"errors":[{"code":"MANIFEST_UNKNOWN"}]})");
    return Reply(200, {{"Content-Type", kType}, {"Docker-Content-Digest", digest_of(manifest)}})
        .body(manifest);
  }

  std::mutex mutex_;
  std::string tagged_ = kImage;
  std::atomic<int> away_ = 0;
};

const std::string kTag = "/v2/team/app/manifests/v1";
const std::string kByDigest = "/v2/team/app/manifests/" + digest_of(kImage);
const std::string kBlobPath = "/v2/team/app/blobs/" + digest_of(kBlob);

struct RegistryMirrorScene {
  explicit RegistryMirrorScene(const Registry& registry)
      : proxy(registry.settings()), client(proxy) {}

  ProxyProcess proxy;
  MirrorClient client;
};

TEST(RegistryMirror, PullsByTagThenByDigestWithOneToken) {
  Registry registry;
  RegistryMirrorScene mirror(registry);
  auto& client = mirror.client;
  const auto head = client.request("HEAD", kTag, {{"Accept", kType}});
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.field("Docker-Content-Digest"), digest_of(kImage));
  for (const auto& path : {kTag, kByDigest, kTag}) {
    const auto manifest = client.get(path, {{"Accept", kType}});
    EXPECT_EQ(manifest.status, 200) << path;
    EXPECT_EQ(manifest.body, kImage);
    EXPECT_EQ(manifest.field("Content-Type"), kType);
    EXPECT_EQ(manifest.field("Docker-Content-Digest"), digest_of(kImage));
  }
  for (int i = 0; i < 2; ++i) {
    const auto blob = client.get(kBlobPath);
    EXPECT_EQ(blob.body, kBlob);
    EXPECT_EQ(blob.field("Docker-Content-Digest"), digest_of(kBlob));
    EXPECT_EQ(is_hit(blob), i == 1);
  }
  EXPECT_EQ(client.get(kBlobPath, {{"Range", "bytes=0-4"}}).status, 206);
  EXPECT_EQ(registry.gets(kTag), 0U);  // which some registries count
  EXPECT_EQ(registry.gets(kByDigest), 1U);
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
  const auto by_path = client.get("/v2/" + name + "/team/app/manifests/v1", {{"Accept", kType}});
  EXPECT_EQ(by_path.body, kImage);
  EXPECT_FALSE(by_path.has("OCI-Namespace"));
  const auto by_parameter = client.get(kTag + "?ns=" + name, {{"Accept", kType}});
  EXPECT_EQ(by_parameter.body, kImage);
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
  EXPECT_EQ(client.get(kTag, {{"Accept", kType}}).status, 404);
  client.host = "localhost";
  EXPECT_EQ(client.get(kTag, {{"Accept", kType}}).body, kImage);
  Client at_listener(port.port());
  at_listener.send(origin_form_text(address, "GET", kTag, {{"Accept", kType}}));
  EXPECT_EQ(at_listener.read("GET").body, kImage);
}

// Ollama: HEAD, a GET that it drops after the head, then ranges at once.
TEST(RegistryMirror, FetchesARangeAtATimeForWhoeverDroppedTheWhole) {
  Registry registry;
  registry.storage.otherwise([](const Request& request) {
    const auto range = request.field("Range");
    if (range.empty()) return cacheable(kBlob).with("ETag", "\"b\"");
    const auto first = std::stoul(range.substr(6));
    const auto dash = range.find('-');
    const auto last = dash + 1 < range.size() ? std::stoul(range.substr(dash + 1)) : kBlob.size();
    const auto end = std::min(last + 1, kBlob.size());
    return Reply(206, {{"ETag", "\"b\""},
                       {"Content-Range", "bytes " + std::to_string(first) + '-' +
                                             std::to_string(end - 1) + '/' +
                                             std::to_string(kBlob.size())}})
        .body(kBlob.substr(first, end - first));
  });
  RegistryMirrorScene mirror(registry);
  const auto head = mirror.client.request("HEAD", kBlobPath);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.field("Content-Length"), std::to_string(kBlob.size()));
  {
    MirrorClient dropped(mirror.proxy);
    dropped.client.send(origin_form_text(dropped.host, "GET", kBlobPath));
    EXPECT_TRUE(await([&] { return registry.storage.count() >= 2; }));
  }
  std::vector<std::jthread> parts;
  std::atomic<int> right = 0;
  constexpr std::size_t kParts = 16;
  const auto size = kBlob.size() / kParts;
  for (std::size_t i = 0; i < kParts; ++i) {
    parts.emplace_back([&, first = i * size] {
      const auto range = std::to_string(first) + '-' + std::to_string(first + size - 1);
      const auto part = MirrorClient(mirror.proxy).get(kBlobPath, {{"Range", "bytes=" + range}});
      if (part.status == 206 && part.body == kBlob.substr(first, size)) ++right;
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
  const auto unknown = mirror.client.get(kTag + "?ns=other.example");
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
                             "/v2/team/secret/blobs/" + digest_of(kBlob)}) {
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
    EXPECT_EQ(mirror.client.get(kBlobPath, {{"Cache-Control", "no-cache"}}).status, 404) << realm;
  }
  EXPECT_EQ(registry.tokens.count(), 0U);
}

TEST(RegistryMirror, SeesThatATagHasMoved) {
  Registry registry;
  RegistryMirrorScene mirror(registry);
  EXPECT_EQ(mirror.client.get(kTag).body, kImage);
  registry.tag(kNewer);
  EXPECT_EQ(mirror.client.get(kTag).body, kImage);  // for a minute
  EXPECT_EQ(mirror.client.get(kTag, {{"Cache-Control", "no-cache"}}).body, kNewer);
  EXPECT_EQ(mirror.client.get(kTag).body, kNewer);
}

TEST(RegistryMirror, ServesWhatItHasWhileTheRegistryIsAway) {  // C3
  for (const int status : {429, 503, 0}) {
    Registry registry;
    RegistryMirrorScene mirror(registry);
    EXPECT_EQ(mirror.client.get(kTag).body, kImage);
    EXPECT_EQ(mirror.client.get(kBlobPath).body, kBlob);
    registry.go_away(status);
    if (status == 0) registry.origin.front.stop();
    EXPECT_EQ(mirror.client.get(kTag, {{"Cache-Control", "max-age=0"}}).body, kImage) << status;
    EXPECT_EQ(mirror.client.get(kByDigest).body, kImage) << status;
    EXPECT_EQ(mirror.client.get(kBlobPath).body, kBlob) << status;
  }
}

TEST(RegistryMirror, ExplainsWhatATagNames) {
  Registry registry;
  RegistryMirrorScene mirror(registry);
  const auto explained = [&] {
    const auto url = "http://" + mirror.proxy.address() + kTag;
    return json::parse(mirror.proxy.page("/admin/explain?url=" + url).body);
  };
  EXPECT_EQ(explained().at("tag"), "v1 names no known digest");
  mirror.client.get(kTag, {{"Accept", kType}});
  const auto told = explained();
  const auto tag = told.at("tag").get<std::string>();
  EXPECT_TRUE(tag.starts_with("v1 names " + digest_of(kImage) + ", held since 20")) << tag;
  EXPECT_TRUE(contains(tag, ", checked ") && tag.ends_with(" ago")) << tag;
  EXPECT_EQ(told.at("action"), "serve") << told.dump(2);
  EXPECT_EQ(told.at("recipe"), "oci");
  EXPECT_EQ(registry.gets(kByDigest), 1U);
}

TEST(RegistryMirror, IsCountedAndItsLastFailureTold) {
  Registry registry;
  RegistryMirrorScene mirror(registry);
  for (int i = 0; i < 3; ++i) mirror.client.get(kBlobPath);
  registry.go_away(503);
  mirror.client.get("/v2/team/app/blobs/" + digest_of("other"));
  const auto told = json::parse(mirror.proxy.page("/digest").body).at("mirrors");
  ASSERT_EQ(told.size(), 1U) << told.dump();
  EXPECT_EQ(told[0].at("recipe"), "oci");
  EXPECT_EQ(told[0].at("requests"), 4);
  EXPECT_EQ(told[0].at("hits"), 2);
  EXPECT_GT(told[0].at("bytes_saved"), 2 * kBlob.size());
  EXPECT_EQ(told[0].at("last_failure"), "127.0.0.1: 503");
  EXPECT_TRUE(contains(mirror.proxy.page("/metrics").body,
                       "hearsay_mirror_hits_total{recipe=\"oci\"} 2\n"));
}

TEST(RegistryMirror, GivesACrowdOneBlobForOneToken) {
  Registry registry;
  const RegistryMirrorScene mirror(registry);
  std::vector<std::jthread> crowd;
  std::atomic<int> whole = 0;
  for (int i = 0; i < 20; ++i) {
    crowd.emplace_back([&] {
      if (MirrorClient(mirror.proxy).get(kBlobPath).body == kBlob) ++whole;
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
  EXPECT_EQ(a.get(kTag).body, kImage);
  EXPECT_EQ(a.get(kBlobPath).body, kBlob);
  ASSERT_TRUE(site.b_knows(3));  // two URLs, and the digest of the blob
  MirrorClient b(site.b);
  EXPECT_EQ(b.get(kTag).body, kImage);
  registry.origin.front.stop();
  EXPECT_EQ(b.get(kTag).body, kImage);
  EXPECT_EQ(b.get(kBlobPath).body, kBlob);
  EXPECT_EQ(registry.gets(kByDigest), 1U);
  EXPECT_EQ(registry.storage.count(), 1U);
}

// A manifest has a media type, which its digest does not tell.
TEST(RegistryMirror, FetchesABlobOnceForAllRepositoriesAndNeighbours) {
  Registry registry;
  const Neighbours site(registry.settings());
  MirrorClient a(site.a);
  for (const char* repository : {"open/one", "open/two", "open/six"}) {
    const auto name = std::string("/v2/") + repository;
    const auto blob = a.get(name + "/blobs/" + digest_of(kBlob));
    EXPECT_EQ(blob.body, kBlob);
    EXPECT_EQ(blob.field("Docker-Content-Digest"), digest_of(kBlob));
    EXPECT_EQ(a.get(name + "/manifests/" + digest_of(kImage)).field("Content-Type"), kType);
  }
  EXPECT_EQ(registry.storage.count(), 1U);
  EXPECT_EQ(registry.origin.plain.count("/v2/open/six/manifests/" + digest_of(kImage)), 2U);
  ASSERT_TRUE(site.b_knows(5));
  const auto given = MirrorClient(site.b).get("/v2/open/for/blobs/" + digest_of(kBlob));
  EXPECT_EQ(given.body, kBlob);
  EXPECT_TRUE(contains(nearest_cache_status(given), "peer/a")) << nearest_cache_status(given);
  EXPECT_EQ(registry.storage.count(), 1U);
}

TEST(RegistryMirror, CutsABlobThatHasAnotherDigestAndStoresNone) {
  Registry registry;
  auto wrong = kBlob;
  wrong.back() = 'c';
  registry.storage.otherwise([&](const Request&) { return cacheable(wrong); });
  RegistryMirrorScene mirror(registry);
  EXPECT_FALSE(mirror.client.get(kBlobPath).whole);
  registry.storage.otherwise([](const Request&) { return cacheable(kBlob); });
  MirrorClient again(mirror.proxy);
  const auto blob = again.get(kBlobPath);
  EXPECT_EQ(blob.body, kBlob);
  EXPECT_FALSE(is_hit(blob));
  EXPECT_FALSE(contains(mirror.proxy.process().errors(), "sig=secret"));
}

}  // namespace
}  // namespace scenario
