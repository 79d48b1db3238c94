// Package managers whose indexes link to files: what clients read there leads back to the proxy,
// and what has a digest there is verified.
#include <gtest/gtest.h>

#include <atomic>

#include "tests/scenario/mirrors/mirror_scene.hpp"

namespace scenario {
namespace {

// A server with an index and its files, mirrored by a recipe like `like`, under "/index/".
struct Index {
  explicit Index(const std::string& like) : like_(like) {}

  json settings() const {
    json all = origin.settings({});
    all["mirrors"]["recipes"] = json::array(
        {{{"name", "index"}, {"like", like_}, {"prefix", "/index/"}, {"to", origin.url("")}}});
    return all;
  }
  std::string url(const std::string& path) const { return origin.url(path); }
  std::size_t asked(const std::string& path) const {
    std::size_t count = 0;
    for (const auto& request : origin.plain.requests()) count += request.target == path;
    return count;
  }

  HttpsOrigin origin;

 private:
  const std::string like_;
};

struct PackageMirror {
  explicit PackageMirror(const Index& index) : proxy(index.settings()), client(proxy) {}
  Response get(const std::string& path, const Fields& fields = {}) {
    return client.get(path, fields);
  }
  // The path of a link of ours.
  std::string path_of(const std::string& link) const {
    EXPECT_TRUE(link.starts_with(proxy.url())) << link;
    return link.substr(std::min(proxy.url().size(), link.size()));
  }

  ProxyProcess proxy;
  MirrorClient client;
};

const std::string kWheel = numbered_bytes(100'000);
const std::string kFile = "/packages/aa/torch-2.4.0%2Bcu121.whl";
const Fields kHtml{{"Accept", "text/html"}};
const Fields kJson{{"Accept", "application/vnd.pypi.simple.v1+json"}};

// An index of Python packages, which does not say that its page has two forms.
struct Python : Index {
  explicit Python(std::string served = kWheel) : Index("pypi"), wheel(std::move(served)) {
    origin.plain.otherwise([this](const Request& request) {
      if (request.target == kFile + ".metadata") return Reply(200).body("Name: torch\n");
      if (request.target == kFile) return part_of(wheel, request);
      if (request.target != "/simple/torch/") return Reply(404).body("no such project");
      const auto digest = sha256_of(kWheel);
      if (contains(request.field("Accept"), "json"))
        return Reply(200, {{"Content-Type", "application/vnd.pypi.simple.v1+json"},
                           {"ETag", "\"json\""}})
            .body(R"({"files":[{"url":")" + url(kFile) + R"(","hashes":{"sha256":")" + digest +
                  R"("},"upload-time":"2026-01-01T00:00:00Z"}],"name":"torch"})");
      return Reply(200, {{"Content-Type", "text/html"}, {"ETag", "\"html\""}})
          .body("<base href=\"/x/\"><a href=\"" + kFile + "#sha256=" + digest +
                "\" data-core-metadata=\"true\">torch</a>");
    });
  }
  const std::string wheel;
};

std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const auto begin = text.find(before) + before.size();
  return text.substr(begin, text.find(after, begin) - begin);
}

TEST(PythonIndex, KeepsItsTwoFormsApartWithLinksToTheMirror) {
  const Python index;
  PackageMirror mirror(index);
  const auto verified =
      mirror.proxy.url() + "/sha256/" + sha256_of(kWheel) + mirror_path(index.url(kFile));
  std::string tags[2];
  for (int i = 0; i < 2; ++i) {
    const auto json = mirror.get("/index/simple/torch/", kJson);
    EXPECT_EQ(json.field("Content-Type"), "application/vnd.pypi.simple.v1+json");
    EXPECT_EQ(between(json.body, R"("url":")", "\""), verified);
    EXPECT_TRUE(contains(json.body, R"("upload-time":"2026-01-01T00:00:00Z")"));
    const auto html = mirror.get("/index/simple/torch/", kHtml);
    EXPECT_EQ(html.field("Content-Type"), "text/html");
    EXPECT_EQ(html.body, "<!----><a href=\"" + verified + "#sha256=" + sha256_of(kWheel) +
                             "\" data-core-metadata=\"true\">torch</a>");
    EXPECT_TRUE(contains(html.field("Content-Security-Policy"), "sandbox"));
    for (const auto& answer : {json, html}) {
      EXPECT_EQ(answer.field("Vary"), "Accept");
      EXPECT_FALSE(contains(answer.body, index.url("")));
    }
    tags[0] = json.field("ETag");
    tags[1] = html.field("ETag");
  }
  EXPECT_NE(tags[0], tags[1]);
  // AK#3406: a tag of the one form is not that of the other one.
  const auto other = mirror.get("/index/simple/torch/", {kJson[0], {"If-None-Match", tags[1]}});
  EXPECT_EQ(other.status, 200);
  const auto same = mirror.get("/index/simple/torch/", {kHtml[0], {"If-None-Match", tags[1]}});
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.field("Vary"), "Accept");
  EXPECT_EQ(index.asked("/simple/torch/"), 2U);
}

TEST(PythonIndex, GivesFilesAndTheirMetadataByTheirLinks) {
  const Python index;
  PackageMirror mirror(index);
  const auto path =
      mirror.path_of(between(mirror.get("/index/simple/torch/", kJson).body, R"("url":")", "\""));
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(mirror.get(path).body, kWheel);
    // The name of the metadata has the digest of the file before it.
    EXPECT_EQ(mirror.get(path + ".metadata").body, "Name: torch\n");
    const auto tail = mirror.get(path, {{"Range", "bytes=99000-"}});
    EXPECT_EQ(tail.status, 206);
    EXPECT_EQ(tail.body, kWheel.substr(99'000));
    EXPECT_EQ(mirror.client.request("HEAD", path).field("Content-Length"), "100000");
  }
  EXPECT_EQ(index.asked(kFile), 1U);
  EXPECT_EQ(mirror.get("/index/simple/unknown/").status, 404);
}

// The origin's word counts for those who name no digest.
TEST(PythonIndex, CutsAFileWithAnotherDigest) {
  auto wrong = kWheel;
  wrong.back() = '?';
  const Python index(wrong);
  PackageMirror mirror(index);
  const auto path = "/sha256/" + sha256_of(kWheel) + mirror_path(index.url(kFile));
  for (int i = 0; i < 2; ++i) {
    Client client(mirror.proxy.port());
    client.send(origin_form_text(mirror.proxy.address(), "GET", path, {}));
    const auto answer = client.read();
    EXPECT_TRUE(answer.status == 502 || !answer.whole);
  }
  EXPECT_EQ(mirror.get(mirror_path(index.url(kFile))).body, wrong);
  EXPECT_EQ(index.asked(kFile), 1U);
}

// The digest is the word of a client, which must not harm those who do not have it.
TEST(PythonIndex, GivesTheFileToOthersWhateverDigestAForgerExpects) {
  const Python index;
  PackageMirror mirror(index);
  const auto path = mirror_path(index.url(kFile));
  EXPECT_EQ(mirror.get(path).body, kWheel);
  Client forger(mirror.proxy.port());
  forger.send(origin_form_text(mirror.proxy.address(), "GET",
                               "/sha256/" + std::string(64, 'f') + path, {}));
  const auto answer = forger.read();
  EXPECT_TRUE(answer.status == 502 || !answer.whole);
  EXPECT_EQ(mirror.get(path).body, kWheel);
  EXPECT_EQ(index.asked(kFile), 1U);
}

TEST(PythonIndex, IsPassedOnWhereItCannotBeReadAndSaysSo) {
  Index index("pypi");
  index.origin.plain.otherwise([](const Request&) {
    return Reply(200, {{"Content-Type", "application/vnd.pypi.simple.v1+json"}})
        .body("<a href=\"/x\">");
  });
  PackageMirror mirror(index);
  const auto page = mirror.get("/index/simple/torch/", kJson);
  EXPECT_EQ(page.body, "<a href=\"/x\">");
  EXPECT_TRUE(contains(page.field("Cache-Status"), "not-rewritten"));
}

struct Npm : Index {
  Npm() : Index("npm") {
    origin.plain.otherwise([this](const Request& request) {
      if (request.method == "POST") return Reply(200).body("audited");
      if (request.target == "/@s/p/-/p-1.0.0.tgz") return Reply(200).body("tarball");
      if (request.target != "/@s/p") return Reply(404).body(R"({"error":"not_found"})");
      return Reply(200, {{"Content-Type", "application/json"}, {"ETag", "\"1\""}})
          .body(
              R"({"name":"@s/p","versions":{"1.0.0":{"dist":{"integrity":"sha512-x=","tarball":")" +
              url("/@s/p/-/p-1.0.0.tgz") + R"("}}},"time":{"1.0.0":"2026-01-01T00:00:00Z"}})");
    });
  }
};

TEST(NpmRegistry, HasLinksForEachHostAndOneDocumentForBothSpellings) {
  const Npm registry;
  PackageMirror mirror(registry);
  for (const char* path : {"/index/@s/p", "/index/@s%2fp", "/index/@s%2Fp"}) {
    for (const auto& host : {mirror.proxy.address(), std::string("cache.test:8080")}) {
      mirror.client.host = host;
      const auto document = mirror.get(path);
      EXPECT_EQ(document.body,
                R"({"name":"@s/p","versions":{"1.0.0":{"dist":{"integrity":"sha512-x=","tarball":)"
                R"("http://)" +
                    host +
                    R"(/index/@s/p/-/p-1.0.0.tgz"}}},"time":)"
                    R"({"1.0.0":"2026-01-01T00:00:00Z"}})")
          << path;
    }
  }
  EXPECT_EQ(registry.asked("/@s/p"), 1U);
  EXPECT_EQ(registry.origin.plain.count(), 1U);
}

TEST(NpmRegistry, GivesTarballsBeforeTheDocument) {
  const Npm registry;
  PackageMirror mirror(registry);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(mirror.get("/index/@s/p/-/p-1.0.0.tgz").body, "tarball");
    EXPECT_EQ(mirror.get("/index/@s%2fp/-/p-1.0.0.tgz").body, "tarball");
  }
  EXPECT_EQ(registry.origin.plain.count(), 1U);
}

TEST(NpmRegistry, PassesAuditsAndLetsNobodySignInOrPublish) {
  const Npm registry;
  PackageMirror mirror(registry);
  mirror.client.client.send(origin_form_text(mirror.client.host, "POST",
                                             "/index/-/npm/v1/security/advisories/bulk", {}, "{}"));
  EXPECT_EQ(mirror.client.client.read("POST").body, "audited");
  EXPECT_EQ(mirror.get("/index/-/whoami").status, 404);
  const auto unknown = mirror.get("/index/unknown");
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.body, R"({"error":"not_found"})");
  EXPECT_EQ(mirror.client.request("PUT", "/index/@s/p").status, 405);
}

TEST(CargoIndex, SaysWhereCratesAreWithTheirDigest) {
  const json settings{{"mirrors", {{"recipes", json::array({"cargo"})}}}};
  const ProxyProcess proxy(settings);
  MirrorClient client(proxy);
  for (const auto& host : {proxy.address(), std::string("cache.test:8080")}) {
    client.host = host;
    const auto config = client.get("/cargo/config.json");
    EXPECT_EQ(config.status, 200);
    EXPECT_EQ(config.field("Content-Type"), "application/json");
    const auto dl = json::parse(config.body)["dl"].get<std::string>();
    EXPECT_TRUE(dl.starts_with("http://" + host + "/sha256/{sha256-checksum}/https/")) << dl;
    EXPECT_TRUE(dl.ends_with("/crates/{crate}/{version}/download")) << dl;
  }
}

// The index of a site tells itself where its crates are.
TEST(CargoIndex, OfASiteLeadsToTheMirrorToo) {
  Index index("cargo");
  index.origin.plain.otherwise([&index](const Request& request) {
    if (request.target == "/config.json")
      return Reply(200, {{"Content-Type", "application/json"}})
          .body(R"({"dl":")" + index.url("/crates") + R"("})");
    if (request.target == "/ab/cd/abcd") return Reply(200, {{"ETag", "\"1\""}}).body("{}\n");
    return Reply(request.target == "/crates/abcd/1.0.0/download" ? 200 : 404).body("crate");
  });
  PackageMirror mirror(index);
  const auto config = json::parse(mirror.get("/index/config.json").body);
  EXPECT_EQ(config["dl"], mirror.proxy.url() + "/index/crates");
  EXPECT_EQ(mirror.get("/index/ab/cd/abcd").body, "{}\n");
  EXPECT_EQ(mirror.get("/index/no/ne/none").status, 404);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(mirror.get("/index/crates/abcd/1.0.0/download").body, "crate");
  EXPECT_EQ(index.asked("/crates/abcd/1.0.0/download"), 1U);
}

TEST(GoProxy, TellsMissingFromMovedAndKeepsVersions) {
  Index index("go");
  std::atomic<int> commit = 0;
  index.origin.plain.otherwise([&commit](const Request& request) {
    if (request.target.ends_with("/@v/main.info"))
      return Reply(200).body("{\"Version\":\"v0.0." + std::to_string(++commit) + "\"}");
    if (request.target.ends_with("/@v/v1.2.3.zip")) return Reply(200).body("zip");
    if (request.target.ends_with("/gone/@v/list")) return Reply(410).body("gone: retracted");
    return Reply(404).body("not found: no such module");
  });
  PackageMirror mirror(index);
  const auto missing = mirror.get("/index/m.test/!x/@v/list");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.body, "not found: no such module");
  EXPECT_EQ(mirror.get("/index/m.test/gone/@v/list").status, 410);
  const auto branch = mirror.get("/index/m.test/a/@v/main.info").body;
  EXPECT_EQ(mirror.get("/index/m.test/a/@v/main.info").body, branch);
  EXPECT_EQ(mirror.get("/index/m.test/a/@v/v1.2.3.zip").body, "zip");
  index.origin.front.stop();
  EXPECT_EQ(mirror.get("/index/m.test/a/@v/v1.2.3.zip").body, "zip");
  // Not 404: the client would go on without the module.
  EXPECT_EQ(mirror.get("/index/m.test/b/@v/v1.2.3.zip").status, 504);
}

// What a 206 or a 200 has from this byte on.
std::string end_from(std::size_t first, const Response& answer) {
  EXPECT_TRUE(answer.whole && (answer.status == 206 || answer.status == 200)) << answer.status;
  return answer.status == 206 ? answer.body : answer.body.substr(first);
}

// Bundler appends what it lacks of an index that grows. What it gets must be of one version, and it
// may be ahead of what is stored. It takes the whole, too (RFC 9110 14.2).
TEST(GemIndex, GivesTheNewestVersionOrSaysThatItHasNotChanged) {
  Index index("gem");
  std::atomic<int> version = 1;
  const auto text_of = [](int number) {
    return std::string(100 * static_cast<std::size_t>(number), 'a' + static_cast<char>(number));
  };
  index.origin.plain.otherwise([&](const Request& request) {
    const auto tag = '"' + std::to_string(version) + '"';
    if (request.field("If-None-Match") == tag) return Reply(304, {{"ETag", tag}});
    return part_of(text_of(version), request).with("ETag", tag);
  });
  PackageMirror mirror(index);
  const auto ask = [&mirror](const std::string& tag, const std::string& range) {
    return mirror.get("/index/versions", {{"If-None-Match", tag}, {"Range", range}});
  };
  EXPECT_EQ(mirror.get("/index/versions").body, text_of(1));
  EXPECT_EQ(ask("\"1\"", "bytes=99-").status, 304);
  version = 2;
  const auto grown = ask("\"1\"", "bytes=99-");
  EXPECT_EQ(grown.field("ETag"), "\"2\"");
  EXPECT_EQ(end_from(99, grown), text_of(2).substr(99));
  // Another client has the third version from elsewhere.
  version = 3;
  EXPECT_EQ(ask("\"3\"", "bytes=299-").status, 304);
  EXPECT_EQ(end_from(199, ask("\"2\"", "bytes=199-")), text_of(3).substr(199));
}

}  // namespace
}  // namespace scenario
