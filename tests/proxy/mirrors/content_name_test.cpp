#include "proxy/mirrors/content_name.hpp"

#include <gtest/gtest.h>

#include "proxy/http/head.hpp"

namespace proxy::mirrors {
namespace {

// Of "hello\n": sha256sum, sha512sum, git hash-object.
const std::string kSha256 = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
const std::string kSha512 =
    "e7c22b994c59d9cf2b48e549b1e24666636045930d3da7c1acb299d1c3b7f931"
    "f94aae41edda2c2b207a36e10f8bcb8d45223e54878f5b316e7ce3b6bc019629";
const std::string kGitBlob = "ce013625030ba8dba906f756967f9e9ca394464a";

std::string upper(std::string text) {
  for (auto& c : text) c = static_cast<char>(std::toupper(c));
  return text;
}

TEST(ContentName, IsReadFromText) {
  const struct {
    const char* claim;
    std::string text;
    std::string read;  // empty: none
  } cases[] = {
      {"SHA-256", "sha256:" + kSha256, "sha256:" + kSha256},
      {"SHA-512", "sha512:" + kSha512, "sha512:" + kSha512},
      {"a git blob", "git-blob-sha1:" + kGitBlob, "git-blob-sha1:" + kGitBlob},
      {"capital digits", "sha256:" + upper(kSha256), "sha256:" + kSha256},
      {"a capital algorithm", "SHA256:" + kSha256, ""},
      {"an unknown one", "md5:d41d8cd98f00b204e9800998ecf8427e", ""},
      {"the digits of another one", "sha256:" + kGitBlob, ""},
      {"a digit less", "sha256:" + kSha256.substr(1), ""},
      {"a digit more", "sha256:" + kSha256 + "0", ""},
      {"another byte", "sha256:" + kSha256.substr(1) + "g", ""},
      {"a NUL", "sha256:" + kSha256.substr(1) + std::string(1, '\0'), ""},
      {"no digits", "sha256:", ""},
      {"no colon", "sha256", ""},
      {"nothing", "", ""},
      {"two colons", "sha256::" + kSha256.substr(1), ""},
  };
  for (const auto& row : cases) {
    const auto name = ContentName::parse(row.text);
    EXPECT_EQ(name ? name->to_text() : "", row.read) << row.claim;
  }
}

TEST(ContentName, IsReadFromReprDigest) {
  const std::string sha256 = "sha-256=:WJG1tSLV3whtD/CxEPvZ0hu0/HFjrzTQgoai6Eb2vgM=:";
  const std::string sha512 =
      "sha-512=:58IrmUxZ2c8rSOVJseJGZmNgRZMNPafBrLKZ0cO3+TH5Sq5B7dosKyB6NuEPi8uNRSI+"
      "VIePWzFufOO2vAGWKQ==:";
  const struct {
    const char* claim;
    std::string lines;
    std::string read;
  } cases[] = {
      {"SHA-256", "Repr-Digest: " + sha256, "sha256:" + kSha256},
      {"any case of the field's name", "repr-digest: " + sha256, "sha256:" + kSha256},
      {"the stronger one", "Repr-Digest: " + sha256 + ", " + sha512, "sha512:" + kSha512},
      {"in two lines", "Repr-Digest: " + sha512 + "\r\nRepr-Digest: " + sha256,
       "sha512:" + kSha512},
      {"beside an unknown one", "Repr-Digest: md5=:AAAA:, " + sha256, "sha256:" + kSha256},
      {"not of the message", "Content-Digest: " + sha256, ""},
      {"of a coded body", "Content-Encoding: gzip\r\nRepr-Digest: " + sha256, ""},
      {"too short", "Repr-Digest: sha-256=:AAAA:", ""},
      {"no bytes", "Repr-Digest: sha-256=abc", ""},
      {"no base64", "Repr-Digest: sha-256=:AAA:", ""},
      {"a member that is none", "Repr-Digest: " + sha256 + ", ,", ""},
      {"none", "ETag: \"a\"", ""},
  };
  for (const auto& row : cases) {
    auto text = "HTTP/1.1 200 OK\r\n" + row.lines + "\r\n\r\n";
    const auto head = http::parse_response_head(text).value();
    const auto name = ContentName::said_by(head.fields);
    EXPECT_EQ(name ? name->to_text() : "", row.read) << row.claim;
  }
}

TEST(ContentCheck, TellsTheBytesThatHaveTheName) {
  for (const auto& text : {"sha256:" + kSha256, "sha512:" + kSha512, "git-blob-sha1:" + kGitBlob}) {
    const auto name = *ContentName::parse(text);
    const auto matches = [&name](std::initializer_list<std::string_view> pieces) {
      ContentCheck check(name, 6);
      for (const auto piece : pieces) check.add(piece);
      return check.matches();
    };
    EXPECT_TRUE(matches({"hello\n"})) << text;
    EXPECT_TRUE(matches({"he", "", "llo\n"})) << text;
    EXPECT_FALSE(matches({"hellO\n"})) << text;
    EXPECT_FALSE(matches({"hello"})) << text;
    EXPECT_FALSE(matches({})) << text;
  }
}

TEST(ContentCheck, OfAGitBlobCountsTheLength) {
  ContentCheck check(*ContentName::parse("git-blob-sha1:" + kGitBlob), 7);
  check.add("hello\n");
  EXPECT_FALSE(check.matches());
}

}  // namespace
}  // namespace proxy::mirrors
