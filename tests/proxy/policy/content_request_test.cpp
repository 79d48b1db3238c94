// Requests for a body that a digest names.
#include <gtest/gtest.h>

#include "tests/proxy/policy/requests.hpp"

namespace proxy::policy {
namespace {

const auto kName = *mirrors::ContentName::parse(
    "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");

std::unique_ptr<TextRequest> named(std::string lines, const std::string& line) {
  auto request = std::make_unique<TextRequest>(std::move(lines), line);
  request->parsed->arrive(Arrival::forward);
  name_content(*request->parsed, kName);
  request->parsed->apply_site_rule();
  return request;
}

TEST(ContentRequest, OfAnyUrlIsForOneStoredResponse) {
  for (const char* line : {"GET http://a.test/x HTTP/1.1", "GET http://b.test/y?z HTTP/1.1",
                           "HEAD http://a.test/x HTTP/1.1", "PURGE http://a.test/x HTTP/1.1"}) {
    const auto request = named("", line);
    EXPECT_EQ((**request).stored_as(), kName.url()) << line;
    EXPECT_TRUE((**request).may_be_shared()) << line;
  }
  const auto first = named("", "GET http://a.test/x HTTP/1.1");
  const OwnedRequest owned(**first);
  EXPECT_EQ(owned.get().stored_as(), kName.url());
  EXPECT_EQ(owned.get().facts.rule, (**first).facts.rule);
}

// A neighbour asks by it.
TEST(ContentRequest, IsRecognizedByTheUrlOfTheDigest) {
  const TextRequest request("", "GET " + kName.url() + " HTTP/1.1");
  request.parsed->arrive(Arrival::forward);
  request.parsed->apply_site_rule();
  EXPECT_EQ((*request).content, kName);
  EXPECT_EQ((*request).stored_as(), kName.url());
  EXPECT_TRUE((*request).may_be_shared());
  const auto other = named("", "GET http://a.test/x HTTP/1.1");
  EXPECT_NE((*request).facts.rule, 0U);
  EXPECT_EQ((*request).facts.rule, (**other).facts.rule) << "both last as long";
}

TEST(ContentRequest, AsksForNoCodingAndNeedsNothingFresher) {
  const auto request = named("Accept-Encoding: gzip, br\r\nCache-Control: no-cache\r\n",
                             "GET http://a.test/x HTTP/1.1");
  const auto& fields = (**request).head.fields;
  EXPECT_EQ(fields.count(http::field::accept_encoding), 1U);
  EXPECT_EQ(fields.value(http::field::accept_encoding), "identity");
  EXPECT_TRUE((**request).facts.immutable);
  EXPECT_GE((**request).facts.freshness.least, std::chrono::days(365));
}

TEST(ContentRequest, WithCredentialsIsForTheResponseOfItsOwnUrl) {
  for (const char* line : {"Authorization: Bearer x\r\n", "Cookie: a=b\r\n"}) {
    const auto request = named(line, "GET http://a.test/x HTTP/1.1");
    EXPECT_EQ((**request).stored_as(), "http://a.test/x") << line;
    EXPECT_EQ((**request).content, kName) << "it is verified all the same";
    EXPECT_FALSE((**request).facts.immutable) << line;
    const OwnedRequest owned(**request);
    EXPECT_EQ(owned.get().stored_as(), "http://a.test/x") << line;
  }
}

}  // namespace
}  // namespace proxy::policy
