#include "proxy/policy/content.hpp"

#include <gtest/gtest.h>

#include "tests/proxy/policy/requests.hpp"

namespace proxy::policy {
namespace {

const std::string kHex(64, 'b');

PinnedPolicy policy_with(config::StoredUnder name, bool never_store = false) {
  config::RuleSettings rule;
  rule.name = "r";
  rule.host = {"*", {}};
  rule.never_store = never_store;
  rule.by_pattern = config::PatternRule{
      .pattern = "/x/{sha256}?*", .kind = config::ResponseClass::immutable, .name = name};
  config::Settings settings;
  settings.rules = {rule};
  return std::make_shared<const Policy>(std::move(settings), lists::AccessLists{});
}

TEST(SharedContent, IsOfRulesThatSayItAndOfRequestsThatAnybodyMightSend) {
  using config::StoredUnder;
  const std::string get = "GET http://a.test/x/" + kHex + " HTTP/1.1";
  const struct {
    const char* claim;
    std::string line;
    std::string lines;
    bool is_named;
    bool is_shared;
    PinnedPolicy policy = policy_with(StoredUnder::content);
  } rows[] = {
      {"GET", get, "", true, true},
      {"HEAD", "HEAD http://a.test/x/" + kHex + " HTTP/1.1", "", true, true},
      {"a range", get, "Range: bytes=0-1\r\n", true, true},
      {"https", "GET https://a.test/x/" + kHex + " HTTP/1.1", "", true, true},
      {"another method", "DELETE http://a.test/x/" + kHex + " HTTP/1.1", "", true, false},
      {"a body", get, "Content-Length: 1\r\n", true, false},
      {"Authorization", get, "Authorization: Bearer x\r\n", true, false},
      {"a cookie", get, "Cookie: a=b\r\n", true, false},
      {"a key", get, "X-Api-Key: k\r\n", true, false},
      {"a signature", "GET http://a.test/x/" + kHex + "?X-Amz-Signature=1 HTTP/1.1", "", true,
       false},
      {"no-store", get, "Cache-Control: no-store\r\n", true, false},
      {"another path", "GET http://a.test/y/" + kHex + " HTTP/1.1", "", false, false},
      {"a digit less", "GET http://a.test/x/" + kHex.substr(1) + " HTTP/1.1", "", false, false},
      {"a rule that names URLs", get, "", true, false, policy_with(StoredUnder::url)},
      {"a rule that names paths", get, "", true, false, policy_with(StoredUnder::path)},
      {"never_store", get, "", true, false, policy_with(StoredUnder::content, true)},
  };
  for (const auto& row : rows) {
    const TextRequest text(row.lines, row.line);
    text.parsed->pin(row.policy);
    text.parsed->arrive(Arrival::forward);
    text.parsed->apply_site_rule();
    EXPECT_EQ(content_of(*text).has_value(), row.is_named) << row.claim;
    const auto shared = shared_content_of(*text);
    EXPECT_EQ(shared.has_value(), row.is_shared) << row.claim;
    if (shared) {
      EXPECT_EQ(stored_under(*shared), "content:sha256:" + kHex);
      EXPECT_EQ((*text).stored_as(), (*text).target.url()) << "it is stored under its URL";
    }
  }
}

TEST(Digest, OfAnAnswerIsTheUrlsElseItsOwnUnlessItIsCoded) {
  const std::string told =
      "Repr-Digest: sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:\r\n";
  const auto digest = [](const char* path, const std::string& lines) {
    const TextRequest text("", std::string("GET http://a.test") + path + " HTTP/1.1");
    text.parsed->pin(policy_with(config::StoredUnder::url));
    text.parsed->apply_site_rule();
    const auto name = digest_of(TextAnswer(200, lines).head.fields, *text);
    return name ? name->to_text() : "";
  };
  const auto named = "/x/" + kHex;
  EXPECT_EQ(digest(named.c_str(), ""), "sha256:" + kHex);
  EXPECT_EQ(digest(named.c_str(), told), "sha256:" + kHex);
  EXPECT_EQ(digest("/y", told), "sha256:" + std::string(64, '0'));
  EXPECT_EQ(digest("/y", ""), "");
  EXPECT_EQ(digest(named.c_str(), told + "Content-Encoding: gzip\r\n"), "");
}

// Who has the body under another URL does not know the digest as its entity tag.
TEST(MayContinue, AnyUncodedAnswerWhatHasTheTagOfItsDigest) {
  const std::string own = "ETag: \"sha256:" + kHex + "\"\r\n";
  const std::string date = "Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n";
  const struct {
    const char* claim;
    std::string path, stored, answer;
    bool may;
  } rows[] = {
      {"another tag", "/x/" + kHex, own, "ETag: \"v1\"\r\n" + date, true},
      {"no tag", "/x/" + kHex, own, "Content-Type: text/plain\r\n", true},
      {"a coded answer", "/x/" + kHex, own, "ETag: \"v1\"\r\nContent-Encoding: gzip\r\n", false},
      {"what has another tag", "/x/" + kHex, "ETag: \"v1\"\r\n", "ETag: \"v2\"\r\n", false},
      {"the tag alone", "/y", own, "ETag: \"v1\"\r\n", false},
      {"the same tag", "/y", own, own, true},
  };
  for (const auto& row : rows) {
    const TextRequest text("", "GET http://a.test" + row.path + " HTTP/1.1");
    text.parsed->pin(policy_with(config::StoredUnder::content));
    text.parsed->apply_site_rule();
    const TextAnswer stored(200, "Cache-Control: max-age=60\r\n" + row.stored);
    cache::Budget budget(1 << 20);
    const cache::Time now{std::chrono::sys_days{std::chrono::January / 1 / 2024}};
    const cache::Received received{.url = (*text).target.url(),
                                   .request = (*text).head.fields,
                                   .response = stored.head,
                                   .times = {now, now},
                                   .our_name = "us"};
    const auto entry = cache::Entry::make(budget, received);
    EXPECT_EQ(may_continue(*entry, TextAnswer(206, row.answer).head.fields, *text), row.may)
        << row.claim;
  }
}

TEST(ActingRequest, IsForAnotherUrlOnTheSameTerms) {
  const TextRequest original("", "GET http://a.test/x/" + kHex + " HTTP/1.1");
  original.parsed->pin(policy_with(config::StoredUnder::content));
  original.parsed->arrive(Arrival::forward);
  const auto url = "https://b.test/x/" + kHex;
  const ActingRequest other(*original, url);
  ASSERT_TRUE(other.get());
  EXPECT_EQ(other.get()->terms(), (*original).terms());
  EXPECT_TRUE(other.get()->rule());
  EXPECT_EQ(other.get()->stored_as(), url);
  EXPECT_EQ(ActingRequest(*original, url, "content:x").get()->stored_as(), "content:x");
  EXPECT_FALSE(ActingRequest(*original, "content:x").get());
}

}  // namespace
}  // namespace proxy::policy
