// Clients of Hugging Face get models by HEAD and GET, or by a listing and GET, from the cache.
#include <gtest/gtest.h>

#include "tests/scenario/mirrors/hub_scene.hpp"

namespace scenario {
namespace {

const std::string kModel = numbered_bytes(300'000);
const std::string kMain = "/hf/o/r/resolve/main/model.bin";
const std::string kOfCommit = "/hf/o/r/resolve/" + kCommit + "/model.bin";
const std::string kTree = "/hf/api/models/o/r/tree/" + kCommit + "?recursive=true";
// As the Python library sends them.
const Fields kIdentity{{"Accept-Encoding", "identity"}};

struct HubMirror {
  explicit HubMirror(std::string model = kModel)
      : hub(std::move(model)), proxy(hub.settings()), client(proxy) {}

  Hub hub;
  ProxyProcess proxy;
  MirrorClient client;
};

void expect_metadata(const Response& answer, const std::string& commit, const std::string& model) {
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.field("X-Repo-Commit"), commit);
  EXPECT_EQ(answer.field("ETag"), '"' + sha256_of(model) + '"');
  EXPECT_EQ(answer.field("Content-Length"), std::to_string(model.size()));
  EXPECT_EQ(answer.field("Accept-Ranges"), "bytes");
  for (const char* name : {"Location", "X-Xet-Hash", "Link"}) EXPECT_FALSE(answer.has(name));
}

TEST(Hub, TellsAFilesNamesAndSizeWithoutItsStorage) {
  HubMirror scene;
  expect_metadata(scene.client.request("HEAD", kMain, kIdentity), kCommit, kModel);
  EXPECT_EQ(scene.hub.storage.count(), 0U);
  const auto file = scene.client.get(kMain, kIdentity);
  expect_metadata(file, kCommit, kModel);
  EXPECT_EQ(file.body, kModel);
  EXPECT_EQ(scene.hub.storage.count(), 1U);
}

// Section 4: a client that finds a URL of the hub or its storage leaves the mirror.
TEST(Hub, LeavesNoUrlOfItsServersInWhatClientsRead) {
  HubMirror scene;
  for (const auto& path : {kTree, kMain, kOfCommit, std::string("/hf/o/r/resolve/main/config.json"),
                           std::string("/hf/o/r/resolve/main/missing")}) {
    for (const char* method : {"HEAD", "GET"}) {
      const auto answer = scene.client.request(method, path);
      auto text = answer.body;
      for (const auto& [name, value] : answer.fields) text += name + ": " + value + '\n';
      const std::string servers[] = {scene.hub.origin.front.authority(),
                                     scene.hub.storage_front.authority(), "cas.test", "xetHash"};
      for (const auto& server : servers)
        EXPECT_FALSE(contains(text, server)) << method << path << ": " << text;
    }
  }
}

// W2: behind a server that ends TLS, the next page is asked for as the client asks that server.
TEST(Hub, LeadsToTheNextPageThroughAServerInFrontThatTheSettingsTrust) {
  const Fields forwarded{{"X-Forwarded-Proto", "https"}, {"X-Forwarded-Host", "models.test"}};
  const Hub hub(kModel);
  for (const bool is_trusted : {false, true}) {
    auto settings = hub.settings();
    if (is_trusted)
      settings["forwarded_pass"] = json::array({"X-Forwarded-Proto", "X-Forwarded-Host"});
    const ProxyProcess proxy(settings);
    const auto link = MirrorClient(proxy).get(kTree, forwarded).field("Link");
    const auto base = is_trusted ? std::string("https://models.test") : proxy.url();
    EXPECT_TRUE(link.starts_with("<" + base + "/hf/api/")) << link;
  }
}

TEST(Hub, IsNotAskedAgainForAFileOfACommit) {
  HubMirror scene;
  scene.client.get(kOfCommit);
  const auto asked = scene.hub.origin.plain.count();
  expect_metadata(scene.client.request("HEAD", kOfCommit), kCommit, kModel);
  EXPECT_EQ(scene.client.get(kOfCommit, {{"Cache-Control", "no-cache"}}).body, kModel);
  const auto rest = scene.client.get(kOfCommit, {{"Range", "bytes=180000-"}});
  EXPECT_EQ(rest.status, 206);
  EXPECT_EQ(rest.body, kModel.substr(180'000));
  EXPECT_EQ(scene.hub.origin.plain.count(), asked);
  scene.hub.leave();
  EXPECT_EQ(scene.client.get(kOfCommit).body, kModel);
}

TEST(Hub, SignsAUrlAnewForTheRestOfABodyThatWasCut) {
  HubMirror scene(numbered_bytes(5'000'000));
  const auto whole = numbered_bytes(5'000'000);
  scene.hub.cut_after = 3'000'000;
  const auto file = scene.client.get(kOfCommit);
  const bool is_whole = file.whole && file.body == whole;
  if (!is_whole) {
    // The client resumes at what it has.
    const auto has = std::to_string(file.body.size());
    EXPECT_GT(file.body.size(), 1'000'000U);
    const auto rest = MirrorClient(scene.proxy).get(kOfCommit, {{"Range", "bytes=" + has + "-"}});
    EXPECT_EQ(rest.status, 206);
    EXPECT_TRUE(file.body + rest.body == whole);
  }
  EXPECT_TRUE(MirrorClient(scene.proxy).get(kOfCommit).body == whole);
  for (const auto& request : scene.hub.storage.requests()) EXPECT_FALSE(request.has("If-Range"));
}

TEST(Hub, MovesMain) {
  HubMirror scene;
  EXPECT_EQ(scene.client.get(kMain).body, kModel);
  EXPECT_EQ(scene.client.get(kMain).body, kModel);
  EXPECT_EQ(scene.hub.storage.count(), 1U) << "the hub itself says that nothing has changed";
  const auto next = numbered_bytes(200'000);
  scene.hub.move_main(next);
  expect_metadata(scene.client.request("HEAD", kMain), kNextCommit, next);
  expect_metadata(scene.client.get(kMain), kNextCommit, next);
  EXPECT_EQ(scene.client.get(kMain).body, next);
  EXPECT_EQ(scene.hub.storage.count(), 2U);
  scene.hub.leave();
  expect_metadata(scene.client.get(kMain), kNextCommit, next);
}

TEST(Hub, GivesSmallFilesByTheirRedirectToItself) {
  HubMirror scene;
  for (int i = 0; i < 2; ++i) {
    const auto file = scene.client.get("/hf/o/r/resolve/" + kCommit + "/config.json");
    EXPECT_EQ(file.body, "{}");
    EXPECT_EQ(file.field("ETag"), "\"9e26dfeeb6e641a33dae4961196235bdb965b21b\"");
    EXPECT_EQ(is_hit(file), i == 1);
  }
}

TEST(Hub, ListsFilesWithoutWaysAroundTheMirror) {  // hub 1.22 and later: a listing, then GET alone
  HubMirror scene;
  std::string tag;
  for (int i = 0; i < 2; ++i) {
    const auto tree = scene.client.get(kTree, {{"Accept-Encoding", "gzip, deflate"}});
    EXPECT_EQ(tree.body, R"([{"type":"file","oid":"12","size":1.0e3,"path":"model.bin"}])");
    EXPECT_EQ(tree.field("Content-Length"), std::to_string(tree.body.size()));
    EXPECT_EQ(tree.field("Link"), "<http://" + scene.proxy.address() + "/hf/api/models/o/r/tree/" +
                                      kCommit + "?cursor=2>; rel=\"next\"");
    EXPECT_EQ(is_hit(tree), i == 1);
    tag = tree.field("ETag");
    EXPECT_TRUE(tag.starts_with('"')) << tag;
  }
  const auto same = scene.client.get(kTree, {{"If-None-Match", tag}});
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.field("ETag"), tag);
  EXPECT_EQ(scene.client.get(kTree, {{"If-None-Match", "W/\"2b-tree\""}}).status, 200);
  EXPECT_EQ(scene.client.get(kTree, {{"Range", "bytes=0-4"}}).status, 200);
  const auto head = scene.client.request("HEAD", kTree);
  EXPECT_EQ(head.status, 200);
  EXPECT_FALSE(head.has("ETag") || head.has("Content-Length"));
  EXPECT_EQ(scene.hub.origin.plain.count(), 1U);
  EXPECT_EQ(scene.client.get(kOfCommit).body, kModel);
  scene.hub.leave();
  EXPECT_EQ(scene.client.get(kTree).field("ETag"), tag);
  EXPECT_EQ(scene.client.get(kOfCommit).body, kModel);
}

TEST(Hub, KeepsTheListingAsItIsForOthersThanClientsOfTheMirror) {
  HubMirror scene;
  scene.client.get(kTree);
  const auto url = scene.hub.origin.url(kTree.substr(3));
  const auto original = Client(scene.proxy.port()).get(url, kIdentity);
  EXPECT_TRUE(contains(original.body, "xetHash"));
  EXPECT_EQ(original.field("ETag"), "W/\"2b-tree\"");
  EXPECT_TRUE(is_hit(original));
}

TEST(Hub, PassesAListingThatCannotBeRewrittenAndSaysSo) {  // W1
  HubMirror scene;
  const std::string member = R"({"xetHash":"ff"})";
  const std::pair<std::string, const char*> listings[] = {
      {'[' + member, "could not be read"},
      {'[' + member + std::string(33 << 20, ' ') + ']', "too long"},
  };
  for (const auto& [text, said] : listings) {
    scene.hub.tree = text;
    const auto tree = scene.client.get(kTree + "&of=" + std::to_string(text.size()));
    EXPECT_TRUE(tree.whole && tree.body == text);
    EXPECT_EQ(tree.field("ETag"), "W/\"2b-tree\"");
    EXPECT_TRUE(contains(scene.proxy.process().errors(), said)) << said;
  }
  scene.hub.tree = '[' + member;
  scene.client.get("/hf/api/other?sign=secret");
  EXPECT_TRUE(contains(scene.proxy.process().errors(), "/api/other could not be read"));
  EXPECT_FALSE(contains(scene.proxy.process().errors(), "secret"));
}

TEST(Hub, TellsEachClientItsOwnName) {  // W2
  HubMirror scene;
  scene.client.host = "localhost:" + std::to_string(scene.proxy.port());
  EXPECT_TRUE(contains(scene.client.get(kTree).field("Link"), "<http://localhost:"));
  MirrorClient other(scene.proxy);
  EXPECT_TRUE(contains(other.get(kTree).field("Link"), "<http://127.0.0.1:"));
}

TEST(Hub, PassesWhatItSaysOfMissingFiles) {
  HubMirror scene;
  for (const char* method : {"HEAD", "GET", "GET"}) {
    const auto none =
        scene.client.request(method, "/hf/o/r/resolve/" + kCommit + "/none", kIdentity);
    EXPECT_EQ(none.status, 404);
    EXPECT_EQ(none.field("X-Error-Code"), "EntryNotFound");
    EXPECT_EQ(none.field("X-Repo-Commit"), kCommit);
  }
  EXPECT_EQ(scene.hub.origin.plain.count(), 2U);
}

TEST(Hub, HasNoGatedFileForWhoeverShowsNoToken) {  // K5, K4
  HubMirror scene;
  for (const auto& revision : {std::string("main"), kCommit}) {
    const auto path = "/hf/o/gated/resolve/" + revision + "/model.bin";
    const auto expect_absent = [&](const char* method, const Fields& fields) {
      const auto answer = scene.client.request(method, path, fields);
      EXPECT_EQ(answer.status, 404) << method << path;
      EXPECT_EQ(answer.field("X-Error-Code"), "GatedRepo");
      EXPECT_FALSE(answer.has("WWW-Authenticate"));
      EXPECT_FALSE(contains(nearest_cache_status(answer), "401"));
    };
    expect_absent("GET", {});
    expect_absent("HEAD", {});
    const auto theirs = scene.client.get(path, {{"Authorization", "Bearer theirs"}});
    EXPECT_EQ(theirs.body, kModel);
    EXPECT_EQ(scene.client.get(path, {{"Authorization", "Bearer other"}}).status, 401);
    expect_absent("GET", {});
    expect_absent("GET", {{"Range", "bytes=0-4"}});
    expect_absent("HEAD", {});
  }
}

TEST(Hub, HasRevisionsWithSlashesInTheirNames) {  // M4
  HubMirror scene;
  const std::string path = "/hf/o/r/resolve/refs%2fpr%2F1/model.bin";
  EXPECT_EQ(scene.client.get(path).body, kModel);
  EXPECT_TRUE(scene.client.get("/hf/o/r/resolve/refs%2Fpr%2F1/model.bin").body == kModel);
  EXPECT_EQ(scene.hub.storage.count(), 1U);
  EXPECT_EQ(scene.hub.origin.plain.requests().at(0).path, path.substr(3));
  for (const char* refused : {"/hf/o/r/resolve/refs%2F..%2Fmain/model.bin", "/hf/api/models/o%2Fr"})
    EXPECT_EQ(scene.client.get(refused).status, 400) << refused;
}

TEST(Hub, BindsItsFileByEachRedirectOnTheWay) {
  HubMirror scene;
  const auto to_file = [](const std::string& control) {
    return Reply(307, {{"Location", "/o/r/resolve/main/model.bin"},
                       {"Set-Cookie", "session=1"},
                       {"Cache-Control", control}});
  };
  for (const char* path : {"/o/r/resolve/old/model.bin", "/o/r/resolve/older/model.bin"})
    scene.hub.origin.plain.on(path, to_file("no-store"));
  for (const char* method : {"HEAD", "GET", "HEAD"}) {
    const auto file = scene.client.request(method, "/hf/o/r/resolve/old/model.bin");
    EXPECT_EQ(file.field("ETag"), '"' + sha256_of(kModel) + '"') << method;
    EXPECT_EQ(file.field("Cache-Control"), "no-store") << method;
    EXPECT_FALSE(file.has("Set-Cookie"));
  }
  const auto unchanged = scene.client.get("/hf/o/r/resolve/older/model.bin",
                                          {{"If-None-Match", '"' + sha256_of(kModel) + '"'}});
  EXPECT_EQ(unchanged.status, 304);
  EXPECT_EQ(unchanged.field("Cache-Control"), "no-store");
}

TEST(Hub, GivesTheFileToWhoeverAsksWhereItsPiecesAre) {  // as the JavaScript library does
  HubMirror scene;
  const auto part = scene.client.get(
      kOfCommit, {{"Accept", "application/vnd.xet-fileinfo+json, */*"}, {"Range", "bytes=0-0"}});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.field("Content-Range"), "bytes 0-0/" + std::to_string(kModel.size()));
  EXPECT_EQ(part.field("X-Linked-Etag"), '"' + sha256_of(kModel) + '"');
  EXPECT_EQ(scene.client.get(kOfCommit).body, kModel);
}

TEST(Hub, HasNoTokensForXet) {
  HubMirror scene;
  EXPECT_EQ(scene.client.get("/hf/api/models/o/r/xet-read-token/" + kCommit).status, 404);
  EXPECT_EQ(scene.hub.origin.plain.count(), 0U);
}

TEST(Hub, TakesQuestionsForPathsByPost) {
  HubMirror scene;
  const std::string body = "paths=model.bin";
  scene.client.client.send("POST /hf/api/models/o/r/paths-info/main HTTP/1.1\r\nHost: " +
                           scene.client.host + "\r\nContent-Length: 15\r\n\r\n" + body);
  const auto info = scene.client.client.read("POST");
  EXPECT_EQ(info.status, 200);
  EXPECT_FALSE(contains(info.body, "xetHash"));
  EXPECT_EQ(scene.hub.origin.plain.requests().at(0).body, body);
}

TEST(Hub, HasNoPathsOfAGatedRepositoryForWhoeverShowsNoToken) {  // K5
  HubMirror scene;
  const std::string path = "/api/models/o/gated/paths-info/main";
  scene.hub.origin.plain.on(path, [](const Request& request) {
    return request.has("Authorization")
               ? Reply(200).body("[]")
               : Reply(401, {{"X-Error-Code", "GatedRepo"}, {"WWW-Authenticate", "Bearer"}});
  });
  for (const bool has_token : {false, true}) {
    const auto line = has_token ? "Authorization: Bearer theirs\r\n" : "";
    scene.client.client.send("POST /hf" + path + " HTTP/1.1\r\nHost: " + scene.client.host +
                             "\r\n" + line + "Content-Length: 7\r\n\r\npaths=a");
    const auto info = scene.client.client.read("POST");
    EXPECT_EQ(info.status, has_token ? 200 : 404);
    EXPECT_EQ(info.has("X-Error-Code"), !has_token);
    EXPECT_FALSE(info.has("WWW-Authenticate"));
  }
}

TEST(Hub, GivesNeighboursWhatOneOfThemHas) {
  Hub hub(kModel);
  const Neighbours site(hub.settings());
  MirrorClient a(site.a);
  a.get(kOfCommit);
  a.get(kTree);
  ASSERT_TRUE(site.b_knows(2));
  hub.leave();
  MirrorClient b(site.b);
  const auto file = b.get(kOfCommit);
  expect_metadata(file, kCommit, kModel);
  EXPECT_EQ(file.body, kModel);
  const auto tree = b.get(kTree);
  EXPECT_FALSE(contains(tree.body, "xetHash"));
  EXPECT_EQ(tree.field("ETag"), a.get(kTree).field("ETag"));
}

}  // namespace
}  // namespace scenario
