// A recipe: how its clients name a server, where that redirects to, and how long responses last. By
// a table of the settings, which has the patterns of the recipe "github", for servers of this test.
#include <gtest/gtest.h>

#include <atomic>

#include "tests/scenario/mirrors/mirror_scene.hpp"

namespace scenario {
namespace {

// A release host, which redirects to a storage by URLs that are signed anew each time.
struct Releases {
  Releases() : storage_front(origin.authority, "IP:127.0.0.1", storage.port()) {
    origin.plain.otherwise([this](const Request& request) {
      const auto file = request.target.substr(request.target.rfind('/'));
      const auto to = storage_front.url("/v" + std::to_string(version) + file +
                                        "?sig=" + std::to_string(++signed_));
      return Reply(302, {{"Location", to}, {"Cache-Control", "no-cache"}});
    });
    storage.otherwise([this](const Request& request) {
      const auto signature = std::stoi(request.target.substr(request.target.find('=') + 1));
      if (signature <= used_.exchange(signature)) return Reply(403);  // F5: it has expired
      const auto body = request.target.substr(0, request.target.find('?'));
      return Reply(200, {{"ETag", "\"" + body + "\""}, {"Age", "3600"}}).body(body);
    });
  }

  json rule(const std::string& name, const std::string& pattern, const std::string& kind) const {
    return {{"name", name}, {"pattern", pattern}, {"class", kind}};
  }
  json settings() const {
    json all = origin.settings({});
    json rules =
        json::array({rule("latest", "/*/*/releases/latest/download/*", "60s"),
                     rule("asset", "/*/*/releases/download/**", "24h"),
                     rule("commit", "/raw/{hex40}/**", "immutable"),
                     rule("file", "/raw/**", "revalidate"), rule("other", "/**?*", "pass")});
    all["mirrors"]["recipes"] = json::array({{{"name", "releases"},
                                              {"prefix", "/releases/"},
                                              {"to", origin.url("")},
                                              {"follow", {storage_front.authority()}},
                                              {"rules", rules}}});
    return all;
  }

  HttpsOrigin origin;
  ScriptedOrigin storage;
  TlsFront storage_front;
  std::atomic<int> version = 1;

 private:
  std::atomic<int> signed_ = 0;
  std::atomic<int> used_ = 0;
};

const std::string kAsset = "/releases/o/r/releases/download/v1/a.tar.gz";
const std::string kLatest = "/releases/o/r/releases/latest/download/a.tar.gz";

struct Proxy {
  explicit Proxy(const json& settings) : process(settings), client(process) {}
  Response get(const std::string& path, const Fields& fields = {}) {
    return client.get(path, fields);
  }

  ProxyProcess process;
  MirrorClient client;
};

TEST(Recipe, StoresOneObjectForManySignedUrlsAndGivesItToNeighbours) {
  Releases releases;
  const Neighbours site(releases.settings());
  MirrorClient a(site.a);
  MirrorClient b(site.b);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(a.get(kAsset).body, "/v1/a.tar.gz");
  // The same under the path that needs no recipe.
  const auto path = mirror_path(releases.origin.url("/o/r/releases/download/v1/a.tar.gz"));
  EXPECT_TRUE(is_hit(a.get(path)));
  EXPECT_EQ(a.get(kAsset, {{"Range", "bytes=1-2"}}).body, "v1");
  ASSERT_TRUE(site.b_knows(1));
  const auto given = b.get(kAsset);
  EXPECT_EQ(given.body, "/v1/a.tar.gz");
  EXPECT_TRUE(contains(nearest_cache_status(given), "peer/a")) << nearest_cache_status(given);
  EXPECT_EQ(releases.storage.count(), 1U);
  EXPECT_FALSE(contains(read_file(site.a.access_log_path()), "sig="));
  releases.origin.front.stop();
  EXPECT_TRUE(is_hit(b.get(kAsset)));
}

TEST(Recipe, SeesThatTheLatestHasMovedOnceItsTimeIsOver) {
  Releases releases;
  auto settings = releases.settings();
  settings["mirrors"]["recipes"][0]["rules"][0]["class"] = "1s";
  Proxy proxy(settings);
  EXPECT_EQ(proxy.get(kLatest).body, "/v1/a.tar.gz");
  releases.version = 2;
  EXPECT_TRUE(await([&] { return proxy.get(kLatest).body == "/v2/a.tar.gz"; }));
  EXPECT_EQ(proxy.get(kAsset).body, "/v2/a.tar.gz");
  releases.version = 3;
  EXPECT_EQ(proxy.get(kAsset).body, "/v2/a.tar.gz");
}

// C3
TEST(Recipe, ServesWhatIsStaleWhileTheOriginSays429OrIsAway) {
  Releases releases;
  Proxy proxy(releases.settings());
  releases.origin.plain.on("/raw/main/a", Reply(200, {{"ETag", "\"1\""}}).body("one"));
  EXPECT_EQ(proxy.get("/releases/raw/main/a").body, "one");
  for (const unsigned status : {429U, 503U}) {
    releases.origin.plain.on("/raw/main/a", Reply(status, {{"Retry-After", "60"}}));
    const auto stale = proxy.get("/releases/raw/main/a", {{"Cache-Control", "max-age=0"}});
    EXPECT_EQ(stale.body, "one") << status;
    EXPECT_TRUE(stale.has("Age"));
    EXPECT_TRUE(contains(nearest_cache_status(stale), "stale")) << nearest_cache_status(stale);
    releases.origin.plain.on("/raw/main/b", Reply(status, {{"Retry-After", "60"}}));
    const auto passed_on = proxy.get("/releases/raw/main/b");  // C2
    EXPECT_EQ(passed_on.status, status);
    EXPECT_EQ(passed_on.field("Retry-After"), "60");
  }
  releases.origin.front.stop();
  EXPECT_EQ(proxy.get("/releases/raw/main/a").body, "one");
  EXPECT_EQ(proxy.get("/releases/raw/main/c").status, 504U);  // C2
}

TEST(Recipe, AsksNeverAgainForWhatIsImmutable) {  // C4
  Releases releases;
  Proxy proxy(releases.settings());
  const auto path = "/raw/" + std::string(40, 'a') + "/x";
  releases.origin.plain.on(path, Reply(200, {{"Cache-Control", "no-cache"}}).body("x"));
  for (const char* control : {"no-cache", "max-age=0", "no-cache"})
    EXPECT_EQ(proxy.get("/releases" + path, {{"Cache-Control", control}}).body, "x");
  EXPECT_EQ(releases.origin.plain.count(path), 1U);
}

// N4: a digest is that of the plain bytes, and servers forget to say Vary.
TEST(Recipe, KeepsPlainBytesAloneForGood) {
  Releases releases;
  Proxy proxy(releases.settings());
  const auto commit = "/raw/" + std::string(40, 'a');
  releases.origin.plain.on(commit + "/plain", Reply(200).body("x"));
  releases.origin.plain.on(commit + "/coded",
                           Reply(200, {{"Content-Encoding", "gzip"}}).body("coded"));
  releases.origin.plain.on(commit + "/empty", Reply(200).body(""));
  const Fields codings{{"Accept-Encoding", "zstd, gzip"}};
  for (const char* file : {"/plain", "/coded", "/empty"}) {
    const auto path = commit + file;
    const bool is_plain = std::string(file) == "/plain";
    proxy.get("/releases" + path, codings);
    const auto again = proxy.get("/releases" + path);
    EXPECT_EQ(is_hit(again), is_plain) << file;
    EXPECT_EQ(again.has("Content-Encoding"), std::string(file) == "/coded") << file;
    EXPECT_EQ(releases.origin.plain.requests(path).at(0).field("Accept-Encoding"), "identity");
  }
}

// C6, M6: each time anew.
TEST(Recipe, PassesWhatIsAskedForWithCredentialsOrAQuery) {
  Releases releases;
  Proxy proxy(releases.settings());
  releases.origin.plain.otherwise([](const Request&) { return cacheable("x"); });
  for (int i = 0; i < 2; ++i) {
    proxy.get("/releases/raw/main/a", {{"Authorization", "Bearer x"}});
    proxy.get("/releases/raw/main/a?x=1");
  }
  EXPECT_EQ(releases.origin.plain.count(), 4U);
}

// C6
TEST(Recipe, KeepsNothingThatSetsACookieButForgetsThoseOfARedirect) {
  Releases releases;
  Proxy proxy(releases.settings());
  const auto path = "/raw/" + std::string(40, 'a') + "/";
  const Field cookie{"Set-Cookie", "a=b"};
  releases.origin.plain.on(path + "own", Reply(200, {cookie}).body("own"));
  releases.origin.plain.on(path + "first", Reply(302, {cookie, {"Location", path + "second"}}));
  releases.origin.plain.on(path + "second", Reply(200).body("second"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(is_hit(proxy.get("/releases" + path + "own")));
    const auto redirected = proxy.get("/releases" + path + "first");
    EXPECT_EQ(redirected.body, "second");
    EXPECT_FALSE(redirected.has("Set-Cookie"));
    EXPECT_EQ(is_hit(redirected), i == 1);
  }
}

TEST(Recipe, AnswersAHeadByWhatIsStaleToo) {  // C3
  Releases releases;
  Proxy proxy(releases.settings());
  releases.origin.plain.on("/raw/main/a", Reply(200, {{"ETag", "\"1\""}}).body("one"));
  EXPECT_EQ(proxy.get("/releases/raw/main/a").body, "one");
  releases.origin.plain.on("/raw/main/a", Reply(503));
  for (const Fields& fields : {Fields{}, Fields{{"Cache-Control", "no-cache"}}}) {
    const auto head = proxy.client.request("HEAD", "/releases/raw/main/a", fields);
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.field("Content-Length"), "3");
  }
}

// 2.11: an index that is older than the list of its digests makes clients refuse all of it.
TEST(Recipe, OfArchivesLetsNoIndexStandInBesideANewerList) {
  HttpsOrigin archive;
  auto settings = archive.settings();
  settings["mirrors"]["recipes"] = json::array({"apt"});
  Proxy proxy(settings);
  const auto give = [&archive](const std::string& path, const std::string& version) {
    archive.plain.on(path, Reply(200, {{"ETag", '"' + version + '"'}}).body(version));
    return mirror_path(archive.url(path));
  };
  const auto list = give("/d/dists/s/InRelease", "1");
  const auto index = give("/d/dists/s/main/Packages", "1");
  EXPECT_EQ(proxy.get(list).body, "1");
  EXPECT_EQ(proxy.get(index).body, "1");
  archive.plain.on("/d/dists/s/main/Packages", Reply(503));
  EXPECT_EQ(proxy.get(index).body, "1");
  give("/d/dists/s/InRelease", "2");
  EXPECT_EQ(proxy.get(list).body, "2");
  EXPECT_EQ(proxy.get(index).status, 503U);
  give("/d/dists/s/main/Packages", "2");
  EXPECT_EQ(proxy.get(index).body, "2");
  archive.front.stop();
  EXPECT_EQ(proxy.get(list).body, "2");
  EXPECT_EQ(proxy.get(index).body, "2");
}

TEST(Recipe, LetsRedirectsLeadToItsStorageAlone) {  // M1
  Releases releases;
  auto settings = releases.settings();
  settings["mirrors"]["recipes"][0]["follow"] = json::array({"storage.test"});
  Proxy proxy(settings);
  EXPECT_EQ(proxy.get(kAsset).status, 502U);
  const auto storage = mirror_path(releases.storage_front.url("/x"));
  EXPECT_EQ(proxy.get(storage).status, 403U);
  EXPECT_EQ(releases.storage.count(), 0U);
}

TEST(Recipe, IsExplained) {
  Releases releases;
  Proxy proxy(releases.settings());
  const auto told = json::parse(
      proxy.process.page("/admin/explain?url=http://" + proxy.process.address() + kAsset).body);
  EXPECT_EQ(told.at("recipe"), "releases") << told.dump(2);
  EXPECT_EQ(told.at("rule"), "rule/asset");
  EXPECT_EQ(told.at("class"), "fresh for 24 hours");
  EXPECT_EQ(told.at("stored_as"), releases.origin.url("/o/r/releases/download/v1/a.tar.gz"));
}

// N1, 2.12: clients name a server in the query, signed for each; a file is one for all servers.
struct Updates {
  json settings() const {
    json rules = json::array(
        {{{"name", "files"}, {"pattern", "/files/**?*"}, {"class", "immutable"}, {"key", "path"}}});
    json recipe{{"name", "updates"}, {"hosts", {host_of(a), host_of(b)}}, {"rules", rules}};
    return {{"mirrors", {{"recipes", json::array({recipe})}}}};
  }
  static std::string host_of(const ScriptedOrigin& at) {
    return "127.0.0.1:" + std::to_string(at.port());
  }
  static std::string path(const ScriptedOrigin& at, const std::string& path) {
    return mirror_path(at.url(path));
  }

  ScriptedOrigin a;
  ScriptedOrigin b;
};

TEST(Recipe, GivesAFileOfOneServerForTheUrlOfAnotherAlsoToNeighbours) {
  Updates updates;
  updates.a.otherwise([](const Request&) { return Reply(200).body("file"); });
  const Neighbours site(updates.settings());
  MirrorClient a(site.a);
  MirrorClient b(site.b);
  EXPECT_EQ(a.get(Updates::path(updates.a, "/files/1?P4=signature")).body, "file");
  EXPECT_EQ(updates.a.requests().at(0).target, "/files/1?P4=signature");
  EXPECT_TRUE(is_hit(a.get(Updates::path(updates.b, "/files/1?P4=other"))));
  ASSERT_TRUE(site.b_knows(1));
  const auto given = b.get(Updates::path(updates.b, "/files/1?P4=third"));
  EXPECT_EQ(given.body, "file");
  EXPECT_TRUE(contains(nearest_cache_status(given), "peer/a")) << nearest_cache_status(given);
  EXPECT_EQ(updates.a.count() + updates.b.count(), 1U);
  for (const auto* proxy : {&site.a, &site.b})
    EXPECT_FALSE(contains(read_file(proxy->access_log_path()), "P4="));
}

// 2.12: clients ask in ranges of 1 MiB, of whichever server.
TEST(Recipe, FetchesEachByteOfAFileOnceForRangesOfTwoServersClients) {
  Updates updates;
  const auto file = numbered_bytes(5'000'000);
  for (auto* server : {&updates.a, &updates.b}) {
    server->otherwise(
        [&file](const Request& request) { return part_of(file, request).with("ETag", "\"1\""); });
  }
  const TemporaryDirectory directory;
  auto settings = updates.settings();
  settings["cache"]["disk"] = {{"path", (directory / "cache").string()}, {"size", "64MiB"}};
  Proxy proxy(settings);
  constexpr std::size_t kMiB = 1 << 20;
  for (const auto* server : {&updates.a, &updates.b}) {
    for (std::size_t at = 0; at < file.size(); at += kMiB) {
      const auto range = "bytes=" + std::to_string(at) + '-' + std::to_string(at + kMiB - 1);
      const auto part = proxy.get(Updates::path(*server, "/files/1?P4=x"), {{"Range", range}});
      EXPECT_EQ(part.status, 206);
      EXPECT_TRUE(part.body == file.substr(at, kMiB)) << range;
    }
  }
  EXPECT_EQ(updates.a.body_bytes_sent() + updates.b.body_bytes_sent(), file.size());
}

// A signature that has expired spoils nothing: what is stored answers, and what is not, asks.
TEST(Recipe, KeepsNothingOfARefusedSignature) {
  Updates updates;
  updates.a.otherwise([](const Request& request) {
    return request.target.ends_with("good") ? Reply(200).body("file") : Reply(403).body("no");
  });
  Proxy proxy(updates.settings());
  EXPECT_EQ(proxy.get(Updates::path(updates.a, "/files/1?P4=bad")).status, 403U);
  EXPECT_EQ(proxy.get(Updates::path(updates.a, "/files/1?P4=good")).body, "file");
  EXPECT_EQ(proxy.get(Updates::path(updates.a, "/files/1?P4=bad")).body, "file");
}

// S2
TEST(Recipe, NamesItselfWhereAClientHasNoUserAgent) {
  Updates updates;
  updates.a.otherwise([](const Request&) { return Reply(200).body("x"); });
  Proxy proxy(updates.settings());
  proxy.get(Updates::path(updates.a, "/files/1"), {{"User-Agent", "theirs/1"}});
  proxy.get(Updates::path(updates.a, "/files/2"));
  EXPECT_EQ(updates.a.requests("/files/1").at(0).field("User-Agent"), "theirs/1");
  EXPECT_TRUE(updates.a.requests("/files/2").at(0).field("User-Agent").starts_with("Hearsay/"));
}

TEST(Recipe, RefusesAServerOfAnotherRecipe) {  // M1
  const json own{{"name", "own"}, {"prefix", "/own/"}, {"to", "https://m.test"}};
  Proxy proxy(json{{"mirrors", {{"recipes", json::array({"windows", "oci", own})}}}});
  EXPECT_EQ(proxy.get("/filestreamingservice/files/1?cacheHostOrigin=m.test").status, 403U);
  EXPECT_EQ(proxy.get("/v2/a/manifests/v1?ns=m.test").status, 404U);
}

// M1
TEST(Recipe, RefusesAServerThatItDoesNotKnow) {
  Proxy proxy(json{{"mirrors", {{"recipes", "default"}}}});
  const auto unknown = proxy.get("/filestreamingservice/files/1?P1=2&cacheHostOrigin=h.test");
  EXPECT_EQ(unknown.status, 403U);
  EXPECT_TRUE(contains(unknown.body, "mirrors.hosts")) << unknown.body;
  EXPECT_EQ(proxy.get("/github/..%2f").status, 400U);
  EXPECT_EQ(proxy.client.request("PUT", "/github/a/b").status, 405U);  // M7
}

}  // namespace
}  // namespace scenario
