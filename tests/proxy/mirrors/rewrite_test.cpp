#include "proxy/mirrors/rewrite.hpp"

#include <gtest/gtest.h>

#include <array>

namespace proxy::mirrors {
namespace {

const std::array<std::string, 1> kNames{"xetHash"};

std::string head_with(const std::string& lines) {
  return "HTTP/1.1 200 OK\r\n" + lines;
}

TEST(Rewritable, IsWholeJsonThatIsNotCoded) {
  const auto json = head_with("content-type: Application/JSON; charset=utf-8\r\n");
  EXPECT_EQ(is_rewritable(json, 200), Rewritable::yes);
  EXPECT_EQ(is_rewritable(json + "Content-Encoding: identity\r\n", 200), Rewritable::yes);
  EXPECT_EQ(is_rewritable(head_with("Content-Type: application/vnd.files+json\r\n"), 200),
            Rewritable::yes);
  EXPECT_EQ(is_rewritable(json, 206), Rewritable::no);
  EXPECT_EQ(is_rewritable(json, 404), Rewritable::no);
  EXPECT_EQ(is_rewritable(json + "Content-Encoding: gzip\r\n", 200), Rewritable::coded);
  EXPECT_EQ(is_rewritable(head_with("Content-Type: text/html\r\n"), 200), Rewritable::no);
  EXPECT_EQ(is_rewritable(head_with(""), 200), Rewritable::no);
}

// W3: golden bytes, since clients and caches behind us keep the tag.
TEST(Rewritten, HasATagOfItsOwnAndNothingThatWasSaidOfTheOldText) {
  const auto head = head_with(
      "Content-Type: application/json\r\netag: W/\"old\"\r\nContent-MD5: a\r\nDigest: b\r\n"
      "Repr-Digest: c\r\nContent-Digest: d\r\nAccept-Ranges: bytes\r\nVary: Accept\r\n"
      "X-Repo-Commit: 12\r\n");
  std::string body = R"([{"xetHash":"x","path":"a"}])";
  const auto anew = rewrite(head, body, kNames);
  EXPECT_EQ(body, R"([{"path":"a"}])");
  EXPECT_EQ(anew,
            head_with("Content-Type: application/json\r\nVary: Accept\r\nX-Repo-Commit: 12\r\n"
                      "ETag: \"034a9e500d853f0db59333d4460b1b4f\"\r\n"));
}

TEST(Rewritten, StaysAsItIsWithoutSuchAMember) {
  const auto head = head_with("ETag: \"old\"\r\nDigest: b\r\n");
  std::string body = R"({ "a" : 1 })";
  EXPECT_EQ(rewrite(head, body, kNames), head);
  EXPECT_EQ(body, R"({ "a" : 1 })");
}

TEST(Rewritten, IsNothingIfTheTextIsNoJson) {
  std::string body = R"({"xetHash":)";
  EXPECT_FALSE(rewrite(head_with(""), body, kNames));
  EXPECT_EQ(body, R"({"xetHash":)");
}

TEST(HeadOfUnseen, NamesNoTagThatTheGetWouldNotHave) {
  EXPECT_EQ(head_of_unseen(head_with("ETag: \"old\"\r\nVary: Accept\r\n")),
            head_with("Vary: Accept\r\n"));
}

TEST(UnchangedHead, RepeatsAllThatDescribesNoText) {  // W4
  const std::string kept =
      "ETag: \"1\"\r\nLast-Modified: Sat, 28 Nov 2026 05:00:00 GMT\r\nCache-Control: max-age=60\r\n"
      "Expires: 0\r\nVary: Accept\r\nContent-Location: /a\r\n";
  const auto head = head_with("Content-Type: application/json\r\n" + kept);
  EXPECT_EQ(unchanged_head(head, "\"0\", W/\"1\""), "HTTP/1.1 304 Not Modified\r\n" + kept);
  EXPECT_EQ(unchanged_head(head, "*"), "HTTP/1.1 304 Not Modified\r\n" + kept);
  EXPECT_FALSE(unchanged_head(head, "\"2\""));
  EXPECT_FALSE(unchanged_head(head, ""));
  EXPECT_FALSE(unchanged_head(head_with("Vary: Accept\r\n"), "*"));
}

}  // namespace
}  // namespace proxy::mirrors
