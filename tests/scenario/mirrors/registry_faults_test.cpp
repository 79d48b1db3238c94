// Registries, token servers and storages that do less than the specification says, or fail.
#include <gtest/gtest.h>

#include "tests/scenario/mirrors/mirror_scene.hpp"

namespace scenario {
namespace {

std::string named(const std::string& body) {
  return "sha256:" + sha256_of(body);
}

const std::string kLayer = numbered_bytes(3'000'000);
const std::string kLayerPath = "/v2/team/app/blobs/" + named(kLayer);
const std::string kRelease = "/v2/team/app/manifests/v1";

// A registry without tokens, whose blobs are in a storage with signed URLs that gives one range at
// a time.
struct OpenRegistry {
  OpenRegistry() : storage_front(origin.authority, "IP:127.0.0.1", storage.port()) {
    origin.plain.on(kLayerPath, Reply(307, {{"Location", storage_front.url("/b?sig=secret")}}));
    storage.otherwise([](const Request& request) { return given(request); });
  }

  static Reply given(const Request& request) {
    if (contains(request.field("Range"), ",")) return Reply(501);
    return part_of(kLayer, request).with("ETag", "\"s\"").with("Cache-Control", "max-age=600");
  }
  json settings() const {
    auto all = origin.settings({origin.front.authority(), storage_front.authority()});
    all["mirrors"]["recipes"] = json::array({"oci"});
    all["mirrors"]["registry"] = origin.front.authority();
    return all;
  }

  HttpsOrigin origin;
  ScriptedOrigin storage;
  TlsFront storage_front;
};

struct OpenMirror {
  explicit OpenMirror(const json& settings) : proxy(settings), client(proxy) {}

  ProxyProcess proxy;
  MirrorClient client;
};

const std::string kIndexType = "application/vnd.oci.image.index.v1+json";
const std::string kManifestType = "application/vnd.oci.image.manifest.v1+json";
const std::string kIndex = R"({"manifests":[]})";
const std::string kManifest = R"({"layers":[]})";

// A registry that names no digest, and gives the form of a manifest that Accept asks for.
void name_no_digest(OpenRegistry& registry, const std::string& tag_path) {
  registry.origin.plain.on(tag_path, [](const Request& request) {
    const bool is_index = contains(request.field("Accept"), kIndexType);
    return Reply(200, {{"Content-Type", is_index ? kIndexType : kManifestType}})
        .body(is_index ? kIndex : kManifest);
  });
  for (const auto& body : {kIndex, kManifest})
    registry.origin.plain.on("/v2/team/app/manifests/" + named(body), Reply(200).body(body));
}

TEST(RegistryFaults, OfATagWithoutADigestDoNotMixItsForms) {
  OpenRegistry registry;
  name_no_digest(registry, kRelease);
  OpenMirror mirror(registry.settings());
  for (const bool is_again : {false, true}) {
    for (const auto& [type, body] : {std::pair(kIndexType, kIndex), {kManifestType, kManifest}}) {
      const auto answer = mirror.client.get(kRelease, {{"Accept", type}});
      EXPECT_EQ(answer.body, body);
      EXPECT_EQ(answer.field("Docker-Content-Digest"), named(body));
      EXPECT_EQ(is_hit(answer), is_again) << answer.field("Cache-Status");
      const auto head = mirror.client.request("HEAD", kRelease, {{"Accept", type}});
      EXPECT_EQ(head.field("Docker-Content-Digest"), named(body));
    }
  }
  for (const bool is_index : {true, false}) {  // too long to be remembered
    const auto accept = (is_index ? kIndexType : kManifestType) + ", " + std::string(3000, 'x');
    const auto answer = mirror.client.get(kRelease, {{"Accept", accept}});
    EXPECT_EQ(answer.body, is_index ? kIndex : kManifest);
  }
}

// M6
TEST(RegistryFaults, PassATagWithAQuery) {
  OpenRegistry registry;
  registry.origin.plain.on(kRelease + "?token=a", cacheable(kManifest));
  OpenMirror mirror(registry.settings());
  for (int i = 0; i < 2; ++i) {
    const auto answer = mirror.client.get(kRelease + "?token=a");
    EXPECT_EQ(answer.body, kManifest);
    EXPECT_FALSE(is_hit(answer));
  }
  for (const auto& request : registry.origin.plain.requests()) {
    EXPECT_EQ(request.method, "GET");
    EXPECT_EQ(request.target, kRelease + "?token=a");
  }
}

TEST(RegistryFaults, OfATagThatHeadDoesNotFindDoNotMixItsForms) {
  OpenRegistry registry;
  registry.origin.plain.on(kRelease, [](const Request& request) {
    if (request.method == "HEAD") return Reply(404);
    return cacheable(contains(request.field("Accept"), kIndexType) ? kIndex : kManifest);
  });
  OpenMirror mirror(registry.settings());
  for (const auto& [type, body] : {std::pair(kIndexType, kIndex), {kManifestType, kManifest}})
    EXPECT_EQ(mirror.client.get(kRelease, {{"Accept", type}}).body, body);
}

TEST(RegistryFaults, ByItsSilenceHoldUpACrowdOnce) {
  OpenRegistry registry;
  registry.origin.plain.on(
      kRelease, Reply(200, {{"Docker-Content-Digest", named(kManifest)}}).body(kManifest));
  registry.origin.plain.on("/v2/team/app/manifests/" + named(kManifest),
                           Reply(200).body(kManifest));
  auto settings = registry.settings();
  settings["timeouts"]["first_byte"] = "2s";
  OpenMirror mirror(settings);
  EXPECT_EQ(mirror.client.get(kRelease).body, kManifest);
  const Gate never;
  registry.origin.plain.on(kRelease, Reply(200).wait(never));
  const auto begun = std::chrono::steady_clock::now();
  std::vector<std::jthread> crowd;
  std::atomic<int> served = 0;
  for (int i = 0; i < 8; ++i) {
    crowd.emplace_back([&] {
      const Fields anew{{"Cache-Control", "no-cache"}};
      if (MirrorClient(mirror.proxy).get(kRelease, anew).body == kManifest) ++served;
    });
  }
  crowd.clear();
  EXPECT_EQ(served, 8);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(8));  // in turn: 16
}

// Of two clients, one wants the index and then a platform's manifest.
TEST(RegistryFaults, LetAMovedTagBeSeenAfterAPurge) {
  OpenRegistry registry;
  name_no_digest(registry, kRelease);
  OpenMirror mirror(registry.settings());
  const Fields accept{{"Accept", kIndexType}};
  EXPECT_EQ(mirror.client.get(kRelease, accept).body, kIndex);
  const std::string newer = R"({"manifests":[],"newer":true})";
  registry.origin.plain.on(kRelease, Reply(200).body(newer));
  registry.origin.plain.on("/v2/team/app/manifests/" + named(newer), Reply(200).body(newer));
  EXPECT_EQ(mirror.client.get(kRelease, accept).body, kIndex);
  mirror.client.request("PURGE", kRelease, kOnPurpose);
  EXPECT_EQ(mirror.client.get(kRelease, accept).body, newer);
}

TEST(RegistryFaults, AskOnceForABlobThatIsMissing) {
  OpenRegistry registry;
  OpenMirror mirror(registry.settings());
  const auto missing = "/v2/team/app/blobs/" + named("missing");
  EXPECT_EQ(mirror.client.get(missing).status, 404);
  for (const Fields& fields : {Fields{}, Fields{{"Range", "bytes=0-9"}}}) {
    EXPECT_EQ(mirror.client.get(missing, fields).status, 404);
    EXPECT_EQ(mirror.client.request("HEAD", missing, fields).status, 404);
  }
  EXPECT_EQ(registry.origin.plain.count(missing), 1U);
}

TEST(RegistryFaults, AreToldToWhoPushesOrListsAll) {  // M7
  OpenRegistry registry;
  OpenMirror mirror(registry.settings());
  EXPECT_EQ(mirror.client.get("/v2/_catalog").status, 404);
  for (const auto& path : {std::string("/v2/team/app/blobs/uploads/"), kRelease}) {
    const auto pushed = mirror.client.request("POST", path);
    EXPECT_EQ(pushed.status, 405) << path;
    EXPECT_EQ(json::parse(pushed.body).at("errors").at(0).at("code"), "UNSUPPORTED");
  }
  EXPECT_EQ(registry.origin.plain.count(), 0U);
}

TEST(RegistryFaults, AreNoneOfALongNameWithCapitalLetters) {
  OpenRegistry registry;
  const auto path =
      "/v2/" + std::string(125, 'A') + "/" + std::string(129, 'b') + "/blobs/" + named(kManifest);
  registry.origin.plain.on(path, Reply(200).body(kManifest));
  OpenMirror mirror(registry.settings());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(mirror.client.get(path).body, kManifest);
  EXPECT_EQ(registry.origin.plain.count(), 1U);
}

// W2: the next page is asked for as the first one was.
TEST(RegistryFaults, LeadToTheNextPageOfTheSameRepository) {
  OpenRegistry registry;
  registry.origin.plain.otherwise([](const Request& request) {
    if (contains(request.target, "last=")) return Reply(200).body("second");
    return Reply(200, {{"Link", "<" + request.path + "?last=a&n=1>; rel=\"next\""}}).body("first");
  });
  auto settings = registry.settings();
  settings["mirrors"].erase("registry");
  OpenMirror mirror(settings);
  const auto name = registry.origin.front.authority();
  for (const auto& path :
       {"/v2/" + name + "/team/app/tags/list?n=1", "/v2/team/app/tags/list?n=1&ns=" + name}) {
    const auto link = mirror.client.get(path).field("Link");
    const auto ours = "<" + mirror.proxy.url();
    ASSERT_TRUE(link.starts_with(ours)) << link;
    const auto next = link.substr(ours.size(), link.find('>') - ours.size());
    EXPECT_EQ(mirror.client.get(next).body, "second") << next;
  }
}

// Signatures of an image are added later: its digest names no list of them.
TEST(RegistryFaults, LetAListOfReferrersChange) {
  OpenRegistry registry;
  OpenMirror mirror(registry.settings());
  const auto path = "/v2/team/app/referrers/" + named(kManifest);
  std::string seen;
  for (const auto& list : {kIndex, std::string(R"({"manifests":[{}]})")}) {
    registry.origin.plain.on(path, Reply(200, {{"Content-Type", kIndexType}}).body(list));
    Fields fields{{"Cache-Control", "no-cache"}};
    if (!seen.empty()) fields.emplace_back("If-None-Match", seen);
    const auto answer = mirror.client.get(path, fields);
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(answer.whole);
    EXPECT_EQ(answer.body, list);
    EXPECT_FALSE(answer.has("ETag") || answer.has("Repr-Digest"));
    EXPECT_FALSE(answer.has("Docker-Content-Digest"));
    seen = '"' + named(kManifest) + '"';
  }
}

// A token server on another port, by which the registry's blob is had.
struct WithTokens {
  WithTokens() : front(registry.origin.authority, "IP:127.0.0.1", tokens.port()) {
    registry.origin.plain.on(kLayerPath, [this](const Request& request) {
      if (request.has("Authorization")) return cacheable(kLayer);
      const auto realm = "Bearer realm=\"" + front.url("/token") + "\"";
      return Reply(401, {{"WWW-Authenticate", realm}}).body("who are you");
    });
  }
  void answer(const Reply& reply) {
    tokens.otherwise([reply](const Request&) { return reply; });
  }
  json settings() const {
    auto all = registry.settings();
    all["mirrors"]["hosts"].push_back(front.authority());
    return all;
  }

  OpenRegistry registry;
  ScriptedOrigin tokens;
  TlsFront front;
};

// The digest in the path of a list is that of its subject.
TEST(RegistryFaults, AreNoneOfAListOfReferrersThatChanges) {
  OpenRegistry registry;
  const auto path = "/v2/team/app/referrers/" + named(kManifest);
  OpenMirror mirror(registry.settings());
  for (const char* list : {R"({"manifests":[]})", R"({"manifests":[{}]})"}) {
    registry.origin.plain.on(path, Reply(200, {{"ETag", "\"l\""}}).body(list));
    const auto answer = mirror.client.get(path);
    EXPECT_EQ(answer.body, list);
    EXPECT_EQ(answer.field("ETag"), "\"l\"");
  }
}

// C2: the registry has nothing against us, and no response is unreadable.
TEST(RegistryFaults, OfABusyTokenServerAreItsOwnAnswer) {
  WithTokens scene;
  OpenMirror mirror(scene.settings());
  for (const int status : {429, 503}) {
    scene.answer(Reply(status, {{"Retry-After", "7"}, {"Set-Cookie", "a=b"}}).body("busy"));
    Client client(mirror.proxy.port());
    client.send(request_text("GET", scene.registry.origin.url(kLayerPath)));
    const auto answer = client.read();
    EXPECT_EQ(answer.status, status);
    EXPECT_FALSE(answer.has("Set-Cookie"));
    EXPECT_EQ(answer.field("Retry-After"), "7");
    EXPECT_TRUE(contains(answer.body, "token server has no time")) << answer.body;
  }
  scene.answer(Reply(200).body(R"({"token":"t"})"));
  EXPECT_TRUE(mirror.client.get(kLayerPath).body == kLayer);
}

TEST(RegistryFaults, OfATokenServerWithoutATokenLeaveNoImage) {
  for (const auto& reply : {Reply(200).body(std::string(10'000'000, ' ')), Reply(200).body("{}"),
                            Reply(302, {{"Location", "/elsewhere"}})}) {
    WithTokens scene;
    scene.answer(reply);
    OpenMirror mirror(scene.settings());
    EXPECT_EQ(mirror.client.get(kLayerPath).status, 404);
    EXPECT_EQ(scene.tokens.count(), 1U);
  }
}

// F6: image tools ask for the parts that they lack, and give up at a 501.
TEST(RegistryFaults, OfStorageThatGivesOneRangeAtATimeReachNobody) {
  OpenRegistry registry;
  const TemporaryDirectory directory;
  auto settings = registry.settings();
  settings["cache"]["disk"] = {{"path", (directory / "cache").string()}, {"size", "64MiB"}};
  OpenMirror mirror(settings);
  const auto parts = mirror.client.get(kLayerPath, {{"Range", "bytes=10-19,2000000-2000009"}});
  EXPECT_EQ(parts.status, 206);
  EXPECT_TRUE(contains(parts.body, kLayer.substr(10, 10)));
  EXPECT_TRUE(contains(parts.body, kLayer.substr(2'000'000, 10)));
  for (const auto& request : registry.storage.requests())
    EXPECT_FALSE(contains(request.field("Range"), ",") || request.field("Range").empty());
}

TEST(RegistryFaults, OfStorageThatRefusesSeveralRangesGiveAUserTheWhole) {
  OpenRegistry registry;
  OpenMirror mirror(registry.settings());
  const auto whole = mirror.client.get(
      kLayerPath, {{"Range", "bytes=10-19,2000000-2000009"}, {"Authorization", "Bearer own"}});
  EXPECT_EQ(whole.status, 200);
  EXPECT_TRUE(whole.body == kLayer);
  EXPECT_FALSE(registry.storage.requests().at(0).has("Authorization"));
}

// 2.1: the rest of a blob is the rest of it, whichever storage has begun it.
TEST(RegistryFaults, OfTwoStoragesThatNameABlobByTwoTagsMakeOneVersionOfIt) {
  for (const bool is_direct : {false, true}) {
    OpenRegistry registry;
    if (is_direct) registry.origin.plain.on(kLayerPath, OpenRegistry::given);
    OpenMirror mirror(registry.settings());
    const auto etag = '"' + named(kLayer) + '"';
    const auto rest =
        mirror.client.get(kLayerPath, {{"Range", "bytes=2999990-"}, {"If-Range", etag}});
    EXPECT_EQ(rest.status, 206);
    EXPECT_EQ(rest.body, kLayer.substr(2'999'990));
    const auto whole = mirror.client.get(kLayerPath);
    EXPECT_TRUE(whole.body == kLayer);
    for (const auto& answer : {rest, whole}) {
      EXPECT_EQ(answer.field("ETag"), etag);
      EXPECT_EQ(answer.field("Accept-Ranges"), "bytes");
      EXPECT_EQ(answer.field("Docker-Content-Digest"), named(kLayer));
    }
  }
}

// F3
TEST(RegistryFaults, OfStorageThatIsAwayTellNoSignature) {
  OpenRegistry registry;
  OpenMirror mirror(registry.settings());
  registry.storage_front.stop();
  const auto answer = mirror.client.get(kLayerPath);
  EXPECT_EQ(answer.status, 504);
  EXPECT_FALSE(contains(answer.body, "secret")) << answer.body;
  EXPECT_FALSE(contains(read_file(mirror.proxy.access_log_path()), "secret"));
}

// As Ollama asks: it closes a GET after its head.
TEST(RegistryFaults, OfAClientThatLeavesAfterTheHeadFetchNoWhole) {
  OpenRegistry registry;
  registry.storage.otherwise([](const Request&) {
    auto whole = Reply(200, {{"ETag", "\"s\""}}).body(kLayer);
    return whole.slow(std::chrono::milliseconds(0), 1'000'000);
  });
  OpenMirror mirror(registry.settings());
  {
    MirrorClient leaving(mirror.proxy);
    leaving.client.send(origin_form_text(leaving.host, "GET", kLayerPath));
    EXPECT_EQ(leaving.client.read_head().status, 200);
  }
  EXPECT_TRUE(await([&] { return registry.storage.open_connections() == 0; }));
  EXPECT_LT(registry.storage.body_bytes_sent(), kLayer.size());
}

// The crowd's first client leaves; the others get what it has begun.
TEST(RegistryFaults, OfTheFirstClientOfABlobHarmNobody) {
  OpenRegistry registry;
  Gate gate;
  registry.storage.otherwise([&gate](const Request&) {
    return Reply(200, {{"ETag", "\"s\""}})
        .sized(kLayer.size())
        .send(kLayer.substr(0, 200'000))
        .wait(gate)
        .send(kLayer.substr(200'000));
  });
  OpenMirror mirror(registry.settings());
  auto first = std::make_unique<MirrorClient>(mirror.proxy);
  first->client.send(origin_form_text(first->host, "GET", kLayerPath));
  EXPECT_EQ(first->client.read_head().status, 200);
  MirrorClient second(mirror.proxy);
  second.client.send(origin_form_text(second.host, "GET", kLayerPath));
  EXPECT_EQ(second.client.read_head().status, 200);  // before the last byte has arrived
  EXPECT_EQ(second.client.read_body(1000), kLayer.substr(0, 1000));
  first.reset();
  gate.open();
  EXPECT_TRUE(second.client.read_body(kLayer.size() - 1000) == kLayer.substr(1000));
  EXPECT_EQ(registry.storage.count(), 1U);
}

}  // namespace
}  // namespace scenario
