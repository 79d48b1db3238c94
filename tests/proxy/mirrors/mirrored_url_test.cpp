#include "proxy/mirrors/mirrored_url.hpp"

#include <gtest/gtest.h>

#include "config/endpoint.hpp"

namespace proxy::mirrors {
namespace {

std::string url_of(std::string_view path) {
  const auto url = mirrored_url(path);
  return url ? url->url() : "none";
}

TEST(MirroredUrl, IsWhatThePathStandsFor) {
  const struct {
    const char* path;
    const char* url;
  } cases[] = {
      {"/https/files.example.com/a/b.tar", "https://files.example.com/a/b.tar"},
      {"/http/files.example.com/a", "http://files.example.com/a"},
      {"/https/files.example.com", "https://files.example.com/"},
      {"/https/files.example.com?x=1", "https://files.example.com/?x=1"},
      {"/https/files.example.com:8443/a", "https://files.example.com:8443/a"},
      {"/https/[::1]:8443/a", "https://[::1]:8443/a"},
      {"/https/files.example.com//a//b", "https://files.example.com//a//b"},
      // M2: one host, one name.
      {"/https/Files.EXAMPLE.com.:443/a", "https://files.example.com/a"},
      {"/http/files.example.com:80/a", "http://files.example.com/a"},
      // M6: the query belongs to the URL, byte for byte.
      {"/https/h/a?sig=a%2Fb%2e%2e/../c", "https://h/a?sig=a%2Fb%2e%2e/../c"},
      {"/https/h/a?", "https://h/a?"},
      // Dots that are no dot segment.
      {"/https/h/..a/b../...", "https://h/..a/b../..."},
      {"/https/h/a%252e", "https://h/a%252e"},
  };
  for (const auto& c : cases) EXPECT_EQ(url_of(c.path), c.url) << c.path;
}

TEST(MirroredUrl, IsNoneOfAPathThatServersReadInSeveralWays) {  // M4
  for (const char* path : {
           "/https/h/../a",
           "/https/h/a/..",
           "/https/h/a/..?x",
           "/https/h/./a",
           "/https/h/a/.",
           "/https/h/%2e%2e/a",
           "/https/h/.%2E/a",
           "/https/h/%2e",
           "/https/../h/a",
           "/https/h/a%2f..",
           "/https/h/..%2Fa",
           "/https/h/a\\b",
           "/https/h/b/a%2F%2e%2e%2fb",
           "/https/h/a%2f.%2F",
           "/https/h/%2F./a",
           "/https/h/a%5cb",
           "/https/h/a?b\\c",
           "/https/h/a%00",
           "/https/h/a%2500b",
           "/https/h/a?b=%00",
           "/https/h/a?b=%2500",
           "/https/h%2fa",
           "/https/h%00/a",
           "/https/h/a%",
           "/https/h/%2",
           "/https/h/%zz",
           "/https/h/%%32e",
       }) {
    EXPECT_EQ(url_of(path), "none") << path;
  }
}

TEST(MirroredUrl, IsNoneWithoutAHost) {
  for (const char* path : {"/https/", "/https//a", "/https/:443/a", "/https/a b/", "/https/h:0/",
                           "/https/h:65536/", "/https/user@h/a", "/https/u:p@h/a", "/https/h@/a",
                           "/https/?a", "/https/[::1/a", "/ftp/h/a", "/https:/h/a", "/"}) {
    EXPECT_EQ(url_of(path), "none") << path;
  }
}

TEST(EncodedSlash, IsOneInThePath) {
  const std::pair<const char*, bool> cases[] = {
      {"/https/h/a%2fb", true},    {"/https/h/refs%2Fpr%2F1/a", true},
      {"/https/h/a%252fb", false}, {"/https/h/a?b=c%2Fd", false},
      {"/https/h/a/b", false},
  };
  for (const auto& [path, has] : cases) {
    const auto url = mirrored_url(path);
    ASSERT_TRUE(url) << path;
    EXPECT_EQ(has_encoded_slash(*url), has) << path;
  }
}

// M5: the key has one spelling, and the origin gets the client's.
TEST(MirroredUrl, HasOneNameAndKeepsTheSpellingForTheOrigin) {
  const auto url = mirrored_url("/https/h/%7Eme/torch-2.4.0%2bcu121%3f.whl?v=1%2B2");
  ASSERT_TRUE(url);
  EXPECT_EQ(url->url(), "https://h/~me/torch-2.4.0+cu121%3F.whl?v=1%2B2");
  EXPECT_EQ(url->asked_path(), "/%7Eme/torch-2.4.0%2bcu121%3f.whl?v=1%2B2");
}

TEST(MirrorPath, BeginsWithASchemeOfMirrors) {
  for (const char* path : {"/https/", "/http/a", "/https/?x"}) EXPECT_TRUE(is_mirror_path(path));
  for (const char* path : {"", "/", "/https", "/httpsx/", "/HTTPS/a", "*", "/hf/a"})
    EXPECT_FALSE(is_mirror_path(path));
}

MirroredHosts hosts_of(const std::vector<std::string>& written) {
  std::vector<config::HostSpec> listed;
  for (const auto& text : written) listed.push_back(*config::parse_host_pattern(text));
  return MirroredHosts(listed);
}

TEST(MirroredHosts, HaveWhatIsListed) {  // M1
  const auto hosts = hosts_of({"Files.example.com", "*.example.org", "alt.test:8443", "10.0.0.1",
                               "[::1]:8443", "plain.test:80"});
  const struct {
    const char* path;
    bool has;
  } cases[] = {
      {"/https/files.example.com/a", true},
      {"/http/files.example.com/a", true},
      {"/https/FILES.example.com./a", true},
      {"/https/files.example.com:443/a", true},
      {"/https/files.example.com:80/a", false},
      {"/https/files.example.com:8443/a", false},
      {"/http/files.example.com:443/a", false},
      {"/https/a.files.example.com/a", false},
      {"/https/example.com/a", false},
      {"/https/files.example.com.test/a", false},
      {"/https/a.example.org/", true},
      {"/https/a.b.example.org/", false},
      {"/https/example.org/", false},
      {"/https/.example.org/", false},
      {"/https/aexample.org/", false},
      {"/https/alt.test:8443/", true},
      {"/http/alt.test:8443/", true},
      {"/https/alt.test/", false},
      {"/https/10.0.0.1/", true},
      {"/https/0xa000001/", true},
      {"/https/[0::1]:8443/", true},
      {"/http/plain.test/", true},
      {"/https/plain.test/", false},
  };
  for (const auto& c : cases) {
    const auto url = mirrored_url(c.path);
    EXPECT_EQ(url && hosts.have(*url), c.has) << c.path;
  }
  EXPECT_FALSE(hosts.empty());
  EXPECT_TRUE(hosts_of({}).empty());
  EXPECT_FALSE(hosts_of({}).have(*mirrored_url("/https/a/")));
}

TEST(DigestFront, NamesADigestBeforeAMirrorPath) {
  const auto is_front = [](std::size_t digits, const std::string& rest,
                           const char* word = "sha256") {
    const auto front = std::string("/") + word + '/' + std::string(digits, 'A');
    const auto path = front + rest;
    const auto found = digest_front(path);
    EXPECT_TRUE(found.empty() || found == front);
    return !found.empty();
  };
  EXPECT_TRUE(is_front(64, "/https/h/a") && is_front(64, "/http/h") &&
              is_front(128, "/https/h/a", "sha512"));
  EXPECT_FALSE(is_front(63, "/https/h/a") || is_front(65, "/https/h/a") || is_front(64, "/a"));
  EXPECT_FALSE(is_front(64, "") || is_front(64, "/https/h/a", "sha512") ||
               is_front(64, "/https/h/a", "sha1"));
  EXPECT_EQ(digest_front("/sha256/" + std::string(63, 'a') + "g/https/h/a"), "");
}

TEST(PlainSlashes, AreReadInThePathAlone) {
  EXPECT_EQ(with_plain_slashes("/@a%2fb%2Fc?d%2fe"), "/@a/b/c?d%2fe");
  EXPECT_EQ(with_plain_slashes("/a%2"), "/a%2");
  EXPECT_EQ(with_plain_slashes("/a%252f"), "/a%252f");
}

}  // namespace
}  // namespace proxy::mirrors
