// `hearsay fetch`: what the proxy is to have before clients ask for it.
#include <gtest/gtest.h>

#include "tests/scenario/control/steered.hpp"
#include "tests/scenario/mirrors/hub_scene.hpp"

namespace scenario {
namespace {

struct FetchCommand {
  FetchCommand() : proxy(origin.settings()) {
    for (const char* path : {"/a", "/b"})
      origin.plain.on(path, cacheable(numbered_bytes(300'000)).with("ETag", "\"v1\""));
  }
  Outcome fetch(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"fetch", "--url", proxy.url()});
    return hearsay(arguments);
  }

  HttpsOrigin origin;
  TemporaryDirectory directory;
  ProxyProcess proxy;
};

TEST(FetchCommand, StoresTheUrlsOfItsArgumentsAndOfFiles) {
  FetchCommand scene;
  const auto list = scene.directory / "list";
  write_file(list, "# for tomorrow\n\n  " + scene.origin.url("/a") + "\r\n");
  const auto done = scene.fetch({"--parallel", "2", list.string(), scene.origin.url("/b#top")});
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_TRUE(contains(done.errors, "2 of 2 are stored, 0 failed; 586 KiB came")) << done.errors;
  MirrorClient client(scene.proxy);
  for (const char* path : {"/a", "/b"}) {
    EXPECT_TRUE(is_hit(client.get(mirror_path(scene.origin.url(path))))) << path;
  }
  EXPECT_EQ(scene.origin.plain.count(), 2U);
}

TEST(FetchCommand, GoesOnWhereItEnded) {
  FetchCommand scene;
  scene.origin.plain.on("/old", [](const Request& request) {
    auto reply = request.has("If-None-Match") ? Reply(304, {{"Cache-Control", "max-age=0"}})
                                              : cacheable(numbered_bytes(300'000), "max-age=0");
    return reply.with("ETag", "\"v1\"");
  });
  const std::vector<std::string> urls{scene.origin.url("/a"), scene.origin.url("/old")};
  EXPECT_EQ(scene.fetch(urls).exit_code, 0);
  const auto again = scene.fetch(urls);
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_TRUE(contains(again.errors, "2 of 2 are stored")) << again.errors;
  EXPECT_EQ(scene.origin.plain.count("/a"), 1U);
  EXPECT_EQ(scene.origin.plain.count("/old"), 2U);
  EXPECT_TRUE(scene.origin.plain.requests("/old").back().has("If-None-Match"));
}

TEST(FetchCommand, FollowsRedirectsAsClientsDo) {
  FetchCommand scene;
  scene.origin.plain.on("/moved", Reply(302, {{"Location", "b"}}));
  EXPECT_EQ(scene.fetch({scene.origin.url("/moved")}).exit_code, 0);
  EXPECT_EQ(scene.origin.plain.count("/b"), 1U);
}

TEST(FetchCommand, SaysWhatFailedAndWhy) {
  FetchCommand scene;
  scene.origin.plain.on("/none", Reply(404).body("no such file"));
  scene.origin.plain.on("/ours", unstorable().body("x"));
  const auto some = scene.fetch({scene.origin.url("/none"), scene.origin.url("/ours"),
                                 "ftp://a.test/x", scene.origin.url("/a")});
  EXPECT_EQ(some.exit_code, 1);
  for (const auto& why :
       {scene.origin.url("/none") + ": 404 no such file",
        scene.origin.url("/ours") + ": came, but the proxy does not store it: ",
        std::string("ftp://a.test/x: no http or https URL"), std::string("1 of 4 are stored")})
    EXPECT_TRUE(contains(some.errors, why)) << some.errors;
}

std::string sha256_name(const std::string& body) {
  return "sha256:" + sha256_of(body);
}

// A registry with one image for two platforms.
struct ImageOrigin {
  ImageOrigin() {
    for (const auto& body : {amd, arm, config, layer})
      origin.plain.on("/v2/team/app/manifests/" + sha256_name(body), manifest(body));
    for (const auto& body : {config, layer})
      origin.plain.on("/v2/team/app/blobs/" + sha256_name(body), Reply(200).body(body));
    origin.plain.on("/v2/team/app/manifests/v1", manifest(index));
    origin.plain.on("/v2/team/app/manifests/" + sha256_name(index), manifest(index));
  }
  static Reply manifest(const std::string& body) {
    return Reply(200, {{"Content-Type", "application/vnd.oci.image.index.v1+json"},
                       {"Docker-Content-Digest", sha256_name(body)}})
        .body(body);
  }
  static std::string image(const std::string& config, const std::string& layer) {
    return R"({"config":{"digest":")" + sha256_name(config) + R"("},"layers":[{"digest":")" +
           sha256_name(layer) + R"("}]})";
  }
  static std::string entry(const std::string& manifest, const std::string& architecture) {
    return R"({"digest":")" + sha256_name(manifest) +
           R"(","platform":{"os":"linux","architecture":")" + architecture + R"("}})";
  }
  json settings() const {
    auto all = origin.settings();
    all["mirrors"]["recipes"] = json::array({"oci"});
    return all;
  }
  std::size_t blobs() const {
    std::size_t count = 0;
    for (const auto& request : origin.plain.requests()) count += contains(request.path, "/blobs/");
    return count;
  }

  const std::string config = "{}";
  const std::string layer = numbered_bytes(300'000);
  const std::string amd = image(config, layer);
  const std::string arm = image(config, layer) + ' ';
  const std::string index =
      R"({"manifests":[)" + entry(amd, "amd64") + ',' + entry(arm, "arm64") + "]}";
  HttpsOrigin origin;
};

TEST(FetchCommand, StoresAnImageWithAllThatItsManifestsName) {
  ImageOrigin images;
  const ProxyProcess proxy(images.settings());
  const auto name = images.origin.front.authority() + "/team/app:v1";
  const auto fetch = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"fetch", "--url", proxy.url(), name});
    return hearsay(arguments);
  };
  const auto other = fetch({"--platform", "linux/s390x"});
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_TRUE(contains(other.errors, name + ": has no image for linux/s390x, but for linux/amd64"))
      << other.errors;
  const auto one = fetch({"--platform", "linux/amd64"});
  EXPECT_EQ(one.exit_code, 0) << one.errors;
  EXPECT_TRUE(contains(one.errors, "4 of 4 are stored, 0 failed")) << one.errors;
  const auto all = fetch({"--platform", "all"});
  EXPECT_TRUE(contains(all.errors, "5 of 5 are stored, 0 failed")) << all.errors;
  EXPECT_EQ(images.blobs(), 2U);
  images.origin.front.stop();
  const auto path = "/v2/" + images.origin.front.authority() + "/team/app/blobs/";
  EXPECT_TRUE(MirrorClient(proxy).get(path + sha256_name(images.layer)).body == images.layer);
}

TEST(FetchCommand, StoresARepository) {
  Hub hub(numbered_bytes(300'000));
  hub.tree = R"([{"type":"file","path":"model.bin"},{"type":"file","path":"config.json"},)"
             R"({"type":"directory","path":"a"}])";
  const ProxyProcess proxy(hub.settings());
  const auto done =
      hearsay({"fetch", "--url", proxy.url(), "hf://o/r@" + kCommit, "hf://o/r/model.bin"});
  // The listing names a second part, which is the same here.
  EXPECT_EQ(done.exit_code, 0) << done.errors;
  EXPECT_TRUE(contains(done.errors, "5 of 5 are stored, 0 failed")) << done.errors;
  MirrorClient client(proxy);
  hub.leave();
  const Fields any{{"Accept", "*/*"}};  // as the libraries send it; the hub's answers vary by it
  for (const char* file : {"model.bin", "config.json"})
    EXPECT_EQ(client.get("/hf/o/r/resolve/" + kCommit + '/' + file, any).status, 200) << file;
}

// B3: the head has promised it, and then an administrator removed it.
TEST(FetchCommand, SaysThatAResponseWasNotKept) {
  FetchCommand scene;
  Gate gate;
  const auto half = numbered_bytes(10'000);
  scene.origin.plain.on("/purged", Reply(200, {{"Cache-Control", "max-age=600"}})
                                       .sized(2 * half.size())
                                       .send(half)
                                       .wait(gate)
                                       .send(half));
  const auto url = scene.origin.url("/purged");
  Outcome done;
  std::jthread fetching([&] { done = scene.fetch({url}); });
  EXPECT_TRUE(await([&] { return scene.origin.plain.count("/purged") == 1; }));
  Client follower(scene.proxy.port());
  follower.send(request_text("GET", url));
  EXPECT_EQ(follower.read_head().status, 200);
  Client admin(scene.proxy.port());
  admin.send(request_text("PURGE", url, {{"X-Hearsay", "1"}}));
  admin.read("PURGE");
  gate.open();
  fetching.join();
  EXPECT_EQ(done.exit_code, 1);
  EXPECT_TRUE(contains(done.errors, "came, but the proxy has not kept it")) << done.errors;
}

TEST(FetchCommand, TellsMisuseFromAProxyThatIsAway) {
  const ReservedPort nobody;
  const auto away = "http://127.0.0.1:" + std::to_string(nobody.port());
  EXPECT_EQ(hearsay({"fetch", "--url", away, "http://a.test/"}).exit_code, 3);
  EXPECT_EQ(hearsay({"fetch", "--url", "nonsense://x", "http://a.test/"}).exit_code, 2);
  EXPECT_EQ(hearsay({"fetch", "--url", away, "/no/such/file"}).exit_code, 2);
  EXPECT_EQ(hearsay({"fetch", "--url", away}).exit_code, 2);
  EXPECT_EQ(hearsay({"fetch", "--url", away, "--parallel", "0", "http://a.test/"}).exit_code, 2);
}

}  // namespace
}  // namespace scenario
