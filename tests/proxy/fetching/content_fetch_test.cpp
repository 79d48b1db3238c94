// What becomes of answers whose body a digest names.
#include <gtest/gtest.h>

#include "proxy/policy/request.hpp"
#include "tests/proxy/fetching/fetch_scene.hpp"

namespace proxy::fetching {
namespace {

// Of "hello\n".
const auto kSha256 = *mirrors::ContentName::parse(
    "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
const auto kGitBlob =
    *mirrors::ContentName::parse("git-blob-sha1:ce013625030ba8dba906f756967f9e9ca394464a");

struct ContentFetchScene : FetchScene {
  // The job of a request for the path, whose body the name names. The fill is listed.
  FillJob job_of(const std::string& path, const mirrors::ContentName& content,
                 const std::string& lines = "") {
    const policy::TextRequest text(lines, "GET " + url(path) + " HTTP/1.1");
    text.parsed->pin(policy);
    text.parsed->arrive(policy::Arrival::forward);
    policy::name_content(*text.parsed, content);
    text.parsed->apply_site_rule();
    const auto stored_as = (*text).stored_as();
    const auto stored_key = cache::key_of(stored_as);
    auto entered = fills.enter(stored_key, stored_as, {io.get_executor()}, clock.steady());
    return {.fill = std::move(entered.fill),
            .key = stored_key,
            .request = std::make_unique<policy::OwnedRequest>(*text),
            .how = {cache::Action::fetch, http::Forward::uri_miss, lines.starts_with("Range:")},
            .stored = {},
            .asked = clock.steady()};
  }
};

Reply whole(std::string body, support::Fields fields = {}) {
  return Reply(200, std::move(fields)).body(std::move(body));
}

TEST(FetchByContent, StoresWhatHasTheDigestAndCutsWhatHasNot) {
  const auto chunked = [](const char* body) { return Reply(200).chunked().send(body); };
  const auto until_close = [](const std::string& body) {
    return Reply::raw("HTTP/1.0 200 OK\r\n\r\n" + body);
  };
  const struct {
    const char* claim;
    Reply reply;
    std::string seen;
    std::string kept;
    mirrors::ContentName name = kSha256;
  } rows[] = {
      {"the right body, though it states no lifetime", whole("hello\n"), "200 hello\n", "yes"},
      {"one that the origin would have fresh for no time",
       whole("hello\n", {{"Cache-Control", "max-age=0"}}), "200 hello\n", "yes"},
      {"in chunks", chunked("hello\n"), "200 hello\n", "yes"},
      {"until the close", until_close("hello\n"), "200 hello\n", "yes"},
      {"another body", whole("hellO\n"), "200  malformed", "yes"},
      {"another length", whole("hello\n\n"), "200  malformed", "yes"},
      {"no bytes", whole(""), "200  malformed", "yes"},
      {"another body in chunks", chunked("hellO\n"), "200 hellO\n malformed", "yes"},
      {"another body until the close", until_close("hellO\n"), "200 hellO\n malformed", "yes"},
      {"another body in pieces", Reply(200).sized(6).send("hel").send("l0\n"), "200 hel malformed",
       "yes"},
      {"a git blob", whole("hello\n"), "200 hello\n", "yes", kGitBlob},
      {"another git blob", whole("hellO\n"), "200  malformed", "yes", kGitBlob},
      {"a git blob of unknown length", chunked("hello\n"), "200 hello\n", "content-name", kGitBlob},
      {"a coded body", whole("coded", {{"Content-Encoding", "gzip"}}), "200 coded", "content-name"},
      {"an error", Reply(404, {{"Cache-Control", "max-age=60"}}).body("none"), "404 none",
       "content-name"},
  };
  for (const auto& row : rows) {
    ContentFetchScene scene;
    scene.origin.on("/x", row.reply);
    const auto seen = scene.run(scene.job_of("/x", row.name));
    // What comes of pieces before the last one is up to the network.
    const bool in_pieces = row.seen == "200 hel malformed";
    EXPECT_EQ(in_pieces ? row.seen : seen.text(), row.seen) << row.claim;
    EXPECT_NE(seen.body, "hell0\n") << row.claim;
    EXPECT_EQ(seen.failure.has_value(), row.seen.ends_with("malformed")) << row.claim;
    EXPECT_EQ(seen.kept(), row.kept) << row.claim;
    const bool is_stored = row.kept == "yes" && !seen.failure;
    const auto stored = scene.ThreadScene::stored(row.name.url());
    EXPECT_EQ(!!stored, is_stored) << row.claim;
    const auto in_300_days = scene.clock.now() + std::chrono::days(300);
    EXPECT_EQ(stored && stored->reusable(in_300_days), is_stored) << row.claim;
    EXPECT_FALSE(scene.stored()) << row.claim << ": under its URL";
  }
}

TEST(FetchByContent, StoresOneResponseForAllUrls) {
  ContentFetchScene scene;
  const support::Gate gate;
  scene.origin.on("/x", Reply(200).sized(6).send("hel").wait(gate).send("lo\n"));
  auto first = scene.job_of("/x", kSha256);
  auto second = fill::FillReader::attach(first.fill, scene.io.get_executor());
  // A request for the other URL joins the fetch.
  const auto other = scene.job_of("/y", kSha256);
  EXPECT_EQ(other.key, first.key);
  auto copy = gate;
  copy.open();
  EXPECT_EQ(scene.run(std::move(first)).text(), "200 hello\n");
  EXPECT_EQ(support::run(scene.io, FetchScene::read(std::move(second))).text(), "200 hello\n");
  EXPECT_TRUE(scene.ThreadScene::stored(kSha256.url()));
  EXPECT_EQ(scene.origin.count(), 1U);
  EXPECT_EQ(scene.origin.count("/y"), 0U);
}

// The origin sends other bytes than the part that is stored.
TEST(FetchByContent, VerifiesWhatIsPutTogetherFromParts) {
  const auto part = [](const char* range, std::string body) {
    return Reply(206, {{"ETag", kStrongTag},
                       {"Cache-Control", "max-age=60"},
                       {"Content-Range", std::string("bytes ") + range + "/6"}})
        .body(std::move(body));
  };
  for (const bool right : {true, false}) {
    ContentFetchScene scene;
    scene.origin.on("/x", part("0-2", right ? "hel" : "heL"));
    EXPECT_EQ(scene.run(scene.job_of("/x", kSha256, "Range: bytes=0-2\r\n")).head->entry->status,
              206);
    scene.origin.on("/x", part("3-5", "lo\n"));
    scene.run(scene.job_of("/x", kSha256, "Range: bytes=3-5\r\n"));
    const auto stored = scene.ThreadScene::stored(kSha256.url());
    EXPECT_EQ(stored && !stored->range(), right);
    EXPECT_EQ(!!stored, right) << "nor is the part that may be wrong";
  }
}

TEST(FetchByReprDigest, CutsABodyThatHasAnotherOne) {
  const std::string digest = "sha-256=:WJG1tSLV3whtD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgM=:";
  const support::Fields fields{{"Cache-Control", "max-age=60"}, {"Repr-Digest", digest}};
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
       whole("hellO\n", {{"Cache-Control", "no-store"}, {"Repr-Digest", digest}}), "200  malformed",
       false},
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
