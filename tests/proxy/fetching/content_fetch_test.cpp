// What becomes of answers whose body a digest names.
#include <gtest/gtest.h>

#include "tests/proxy/fetching/fetch_scene.hpp"

namespace proxy::fetching {
namespace {

// Of "hello\n".
const std::string kPath = "/5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
const std::string kDigest = "sha-256=:WJG1tSLV3whtD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgM=:";

struct ContentFetchScene : FetchScene {
  ContentFetchScene() {
    auto settings = settings_to_fetch();
    config::RuleSettings rule;
    rule.name = "content";
    rule.host = {"127.0.0.1", {}};
    rule.by_pattern =
        config::PatternRule{.pattern = "/{sha256}", .kind = config::ResponseClass::immutable};
    settings.rules.push_back(rule);
    with_rule = std::make_shared<const policy::Policy>(std::move(settings), lists::AccessLists{});
  }

  // The job of a request for the path. The fill is listed.
  FillJob job_of(const std::string& path, const std::string& lines = "") {
    const policy::TextRequest text(lines, "GET " + url(path) + " HTTP/1.1");
    text.parsed->pin(with_rule);
    text.parsed->arrive(policy::Arrival::forward);
    text.parsed->apply_site_rule();
    const auto key_of_url = cache::key_of(url(path));
    auto entered = fills.enter(key_of_url, url(path), {io.get_executor()}, clock.steady());
    return {.fill = std::move(entered.fill),
            .key = key_of_url,
            .request = std::make_unique<policy::OwnedRequest>(*text),
            .how = {cache::Action::fetch, http::Forward::uri_miss, lines.starts_with("Range:")},
            .stored = {},
            .asked = clock.steady()};
  }

  policy::PinnedPolicy with_rule;
};

Reply whole(std::string body, support::Fields fields = {}) {
  return Reply(200, std::move(fields)).body(std::move(body));
}

TEST(FetchByContent, StoresWhatHasTheDigestOfTheUrlAndCutsWhatHasNot) {
  const auto chunked = [](const char* body) { return Reply(200).chunked().send(body); };
  const auto until_close = [](const std::string& body) {
    return Reply::raw("HTTP/1.0 200 OK\r\n\r\n" + body);
  };
  const support::Fields gzip{{"Content-Encoding", "gzip"}};
  const struct {
    const char* claim;
    Reply reply;
    std::string seen;
    bool is_stored;
  } rows[] = {
      {"the right body", whole("hello\n"), "200 hello\n", true},
      {"in chunks", chunked("hello\n"), "200 hello\n", true},
      {"until the close", until_close("hello\n"), "200 hello\n", true},
      {"another body", whole("hellO\n"), "200  malformed", false},
      {"another length", whole("hello\n\n"), "200  malformed", false},
      {"no bytes", whole(""), "200  malformed", false},
      {"another body in chunks", chunked("hellO\n"), "200 hellO\n malformed", false},
      {"another body until the close", until_close("hellO\n"), "200 hellO\n malformed", false},
      {"another Repr-Digest, which the URL's overrules",
       whole("hellO\n", {{"Repr-Digest", "sha-256=:AAAA:"}}), "200  malformed", false},
      {"a coded body, which is not what the digest is of", whole("coded", gzip), "200 coded",
       false},
      {"an error", Reply(404).body("none"), "404 none", false},
  };
  for (const auto& row : rows) {
    ContentFetchScene scene;
    scene.origin.on(kPath, row.reply);
    const auto seen = scene.run(scene.job_of(kPath, "Accept-Encoding: gzip, br\r\n"));
    EXPECT_EQ(seen.text(), row.seen) << row.claim;
    EXPECT_EQ(!!scene.ThreadScene::stored(scene.url(kPath)), row.is_stored) << row.claim;
    EXPECT_EQ(scene.origin.requests().at(0).field("Accept-Encoding"), "identity") << row.claim;
  }
}

// What comes of the pieces before the last one is up to the network.
TEST(FetchByContent, NeverGivesTheLastBytesOfAnotherBody) {
  ContentFetchScene scene;
  scene.origin.on(kPath, Reply(200).sized(6).send("hel").send("l0\n"));
  const auto seen = scene.run(scene.job_of(kPath));
  EXPECT_TRUE(seen.failure);
  EXPECT_TRUE(std::string("hell0").starts_with(seen.body)) << seen.body;
  EXPECT_FALSE(scene.ThreadScene::stored(scene.url(kPath)));
}

TEST(FetchByContent, VerifiesAPartThatHasAllBytes) {
  for (const bool right : {true, false}) {
    ContentFetchScene scene;
    scene.origin.on(kPath, Reply(206, {{"ETag", kStrongTag}, {"Content-Range", "bytes 0-5/6"}})
                               .body(right ? "hello\n" : "hellO\n"));
    const auto seen = scene.run(scene.job_of(kPath, "Range: bytes=0-\r\n"));
    EXPECT_EQ(seen.text(), right ? "206 hello\n" : "206  malformed");
    EXPECT_EQ(!!scene.ThreadScene::stored(scene.url(kPath)), right);
  }
}

TEST(FetchByContent, VerifiesWhatIsPutTogetherFromParts) {
  const auto part = [](const char* range, std::string body) {
    return Reply(206, {{"ETag", kStrongTag}, {"Content-Range", std::string("bytes ") + range}})
        .body(std::move(body));
  };
  for (const bool right : {true, false}) {
    ContentFetchScene scene;
    scene.origin.on(kPath, part("0-2/6", right ? "hel" : "heL"));
    EXPECT_EQ(scene.run(scene.job_of(kPath, "Range: bytes=0-2\r\n")).head->entry->status, 206);
    scene.origin.on(kPath, part("3-5/6", "lo\n"));
    scene.run(scene.job_of(kPath, "Range: bytes=3-5\r\n"));
    const auto stored = scene.ThreadScene::stored(scene.url(kPath));
    EXPECT_EQ(!!stored, right) << "nor is the part that may be wrong";
    EXPECT_EQ(stored && !stored->range(), right);
  }
}

// Repr-Digest stays with what was stored of a cut body.
TEST(FetchByReprDigest, VerifiesWhatIsCompletedAfterACut) {
  const support::Fields told{
      {"Cache-Control", "max-age=60"}, {"ETag", kStrongTag}, {"Repr-Digest", kDigest}};
  for (const bool right : {true, false}) {
    FetchScene scene;
    scene.origin.on("/x", Reply(200, told).sized(6).send(right ? "hel" : "heL").cut());
    EXPECT_TRUE(scene.fetch().failure);
    const auto begun = scene.stored();
    ASSERT_TRUE(begun && begun->range());
    scene.origin.on(
        "/x", Reply(206, {{"ETag", kStrongTag}, {"Content-Range", "bytes 3-5/6"}}).body("lo\n"));
    auto job = scene.job();
    job.how = {cache::Action::complete, http::Forward::partial};
    job.stored = {begun, {}};
    const auto seen = scene.run(std::move(job));
    EXPECT_EQ(seen.text(), right ? "200 hello\n" : "200 heL malformed");
    EXPECT_EQ(!!scene.stored(), right);
  }
}

TEST(FetchByReprDigest, CutsABodyThatHasAnotherOne) {
  const support::Fields fields{{"Cache-Control", "max-age=60"}, {"Repr-Digest", kDigest}};
  auto coded = fields;
  coded.emplace_back("Content-Encoding", "gzip");
  const struct {
    const char* claim;
    Reply reply;
    std::string seen;
    bool is_stored;
  } rows[] = {
      {"the right body", whole("hello\n", fields), "200 hello\n", true},
      {"another body", whole("hellO\n", fields), "200  malformed", false},
      {"another one that is not stored",
       whole("hellO\n", {{"Cache-Control", "no-store"}, {"Repr-Digest", kDigest}}),
       "200  malformed", false},
      {"a coded body, which is not checked", whole("coded", coded), "200 coded", true},
      {"a digest that is none",
       whole("hellO\n", {{"Cache-Control", "max-age=60"}, {"Repr-Digest", "sha-256=:AAAA:"}}),
       "200 hellO\n", true},
  };
  for (const auto& row : rows) {
    FetchScene scene;
    scene.origin.on("/x", row.reply);
    EXPECT_EQ(scene.fetch().text(), row.seen) << row.claim;
    EXPECT_EQ(!!scene.stored(), row.is_stored) << row.claim;
  }
}

}  // namespace
}  // namespace proxy::fetching
