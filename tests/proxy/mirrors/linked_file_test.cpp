#include "proxy/mirrors/linked_file.hpp"

#include <gtest/gtest.h>

#include "proxy/mirrors/redirects.hpp"

namespace proxy::mirrors {
namespace {

const std::string kTag = '"' + std::string(64, 'a') + '"';

// The text of a redirect to a signed URL, and its head.
struct HubRedirect {
  explicit HubRedirect(const std::string& lines)
      : text(
            "HTTP/1.1 302 Found\r\nLocation: https://storage.test/x?sig=1\r\nContent-Length: "
            "1400\r\n"
            "Content-Type: text/plain\r\nETag: \"of the redirect\"\r\nVary: Accept\r\n" +
            lines + "\r\n"),
        head(http::parse_response_head(text).value()),
        file(LinkedFile::told_by(head.fields)) {}

  std::string text;
  http::ResponseHead head;
  std::optional<LinkedFile> file;
};

std::string text_of(const http::Fields& fields) {
  std::string text;
  for (const auto& line : fields) {
    text += std::string(line.name) + ": " + std::string(line.value) + '\n';
  }
  return text;
}

const std::string kLines =
    "X-Repo-Commit: 12ab\r\nX-Linked-Size: 5000000000\r\nX-Linked-Etag: " + kTag + "\r\n";
const std::string kTold =
    "ETag: " + kTag +
    "\nRepr-Digest: sha-256=:qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=:\nX-Repo-Commit: "
    "12ab\nX-Linked-Size: 5000000000\nX-Linked-Etag: " +
    kTag + '\n';

TEST(LinkedFile, IsToldByAStrongTagAlone) {
  EXPECT_TRUE(HubRedirect(kLines).file);
  for (const char* lines :
       {"", "X-Linked-Size: 5\r\n", "X-Linked-Etag: W/\"a\"\r\n", "X-Linked-Etag: a\r\n",
        "X-Linked-Etag: \"a\"\r\nX-Linked-Etag: \"b\"\r\n"}) {
    EXPECT_FALSE(HubRedirect(lines).file) << lines;
  }
}

TEST(LinkedFile, AnswersAHeadWithTheSizeOfTheFile) {  // F7, 2.9
  const HubRedirect redirect(kLines);
  const auto head = redirect.file->answer(redirect.head, "HEAD", "");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 200U);
  EXPECT_EQ(text_of(head->fields),
            "Vary: Accept\n" + kTold + "Accept-Ranges: bytes\nContent-Length: 5000000000\n");
}

TEST(LinkedFile, AnswersWhoeverHasItsVersion) {
  const HubRedirect redirect(kLines);
  const auto head = redirect.file->answer(redirect.head, "GET", "\"other\", " + kTag);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 304U);
  EXPECT_EQ(text_of(head->fields), "Vary: Accept\n" + kTold + "Accept-Ranges: bytes\n");
  EXPECT_FALSE(redirect.file->answer(redirect.head, "GET", "\"other\""));
  EXPECT_FALSE(redirect.file->answer(redirect.head, "GET", ""));
}

TEST(LinkedFile, LeavesAHeadOfUnknownSizeToTheStorage) {
  const HubRedirect redirect("X-Linked-Size: many\r\nX-Linked-Etag: " + kTag + "\r\n");
  EXPECT_FALSE(redirect.file->answer(redirect.head, "HEAD", ""));
}

TEST(LinkedFile, NamesTheStoragesAnswer) {
  const HubRedirect redirect(kLines);
  std::string text =
      "HTTP/1.1 200 OK\r\nContent-Type: binary/octet-stream\r\nETag: \"of the storage\"\r\n"
      "X-Repo-Commit: other\r\nLast-Modified: Sat, 28 Nov 2026 05:00:00 GMT\r\n\r\n";
  const Redirects way(*http::parse_target("GET", "https://hub.test/a/b/resolve/main/c"));
  const auto answer = http::parse_response_head(text).value();
  EXPECT_EQ(
      text_of(fields_for_first(answer.fields, way, {.linked = &*redirect.file})),
      "Content-Type: binary/octet-stream\nLast-Modified: Sat, 28 Nov 2026 05:00:00 GMT\n" + kTold);
}

TEST(LinkedFile, HasNoDigestIfTheTagIsNone) {  // of a small file, the tag is one of git
  const HubRedirect redirect("X-Linked-Etag: \"" + std::string(40, 'a') + "\"\r\n");
  http::Fields fields;
  redirect.file->append_to(fields);
  EXPECT_EQ(fields.find("Repr-Digest"), nullptr);
}

TEST(WithoutConditions, KeepsTheRangeOfTheSameVersion) {
  const std::string head =
      "GET /a HTTP/1.1\r\nHost: a\r\nif-range: \"a\"\r\nRange: bytes=5-\r\n"
      "If-None-Match: \"b\"\r\nIf-Modified-Since: c\r\n";
  EXPECT_EQ(without_conditions(head, "\"a\""), "GET /a HTTP/1.1\r\nHost: a\r\nRange: bytes=5-\r\n");
  // The rest of another version is not asked for.
  EXPECT_EQ(without_conditions(head, "\"b\""), "GET /a HTTP/1.1\r\nHost: a\r\n");
}

TEST(WithoutConditions, KeepsAnIfMatchOfAnotherVersionAlone) {
  const std::string line = "GET /a HTTP/1.1\r\n";
  const auto of = [&](const std::string& tags) { return line + "if-match: " + tags + "\r\n"; };
  for (const char* met : {"\"a\"", "\"b\", \"a\"", "*"})
    EXPECT_EQ(without_conditions(of(met), "\"a\""), line) << met;
  for (const char* other : {"\"b\"", "W/\"a\""})
    EXPECT_EQ(without_conditions(of(other), "\"a\""), of(other)) << other;
}

TEST(LinkedFile, OfARegistryHasItsDigestForATag) {
  const std::string digest = "sha256:" + std::string(64, '0');
  const auto file = LinkedFile::named(digest);
  EXPECT_EQ(file.etag(), '"' + digest + '"');
  http::Fields fields;
  file.append_to(fields);
  EXPECT_EQ(fields.value(http::field::etag), file.etag());
  EXPECT_EQ(fields.value(http::field::accept_ranges), "bytes");
  EXPECT_EQ(fields.only_value("Repr-Digest"),
            "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:");
  for (const auto& line : fields) EXPECT_TRUE(file.replaces(line)) << line.name;
  EXPECT_FALSE(LinkedFile::named("sha512:" + std::string(128, '0')).etag().empty());
}

}  // namespace
}  // namespace proxy::mirrors
