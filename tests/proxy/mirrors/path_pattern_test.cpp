#include "proxy/mirrors/path_pattern.hpp"

#include <gtest/gtest.h>

namespace proxy::mirrors {
namespace {

const std::string kHex64(64, 'a');
const std::string kHex128(128, '7');

// "-": the path does not match; else the content name.
std::string match(const std::string& pattern, const std::string& path) {
  const auto parsed = PathPattern::parse(pattern);
  if (!parsed) return "no pattern";
  const auto match = parsed->match(path);
  return match ? match->content : "-";
}

TEST(PathPattern, MatchesPartByPart) {
  const struct {
    const char* pattern;
    const char* path;
    bool matches;
  } cases[] = {
      {"/a", "/a", true},
      {"/a", "/a/", false},
      {"/a", "/ab", false},
      {"/a/", "/a/", true},
      {"/*", "/x", true},
      {"/*", "/", false},
      {"/*", "/x/y", false},
      {"/*/b", "/x/b", true},
      {"/*/b", "/x/c/b", false},
      {"/*.rpm", "/a.rpm.rpm", true},
      {"/*.rpm", "/.rpm", false},
      {"/a*b*c", "/a-bb-c-bc", true},
      {"/a*b*c", "/abc", false},
      {"/**", "/", true},
      {"/**", "/x/y", true},
      {"/a/**", "/a", true},
      {"/a/**", "/a/x/y", true},
      {"/a/**", "/b/x", false},
      {"/**/b", "/b", true},
      {"/**/b", "/x/y/b", true},
      {"/**/b", "/x/bb", false},
      {"/**/b/*", "/b/b/b/x", true},
      {"/**/a/**/b", "/x/a/y/a/z/b", true},
      {"/**/a/**/b", "/x/a/y/a/z/c", false},
      {"/**/a/b", "/a/a/a/b", true},
      {"/v{num}.{num}.x", "/v1.20.x", true},
      {"/v{num}.{num}.x", "/v1.2.3.x", false},
      {"/v{num}.x", "/v.x", false},
      {"/v{num}-*", "/v12-a-b", true},
      {"/*{num}", "/a12", true},
      {"/a", "/a?x", false},
      {"/a?*", "/a?x=/y", true},
      {"/a?*", "/a", true},
      {"/**?*", "/x/y?z", true},
      {"/{hex2}-x", "/0F-x", true},
      {"/{hex2}-x", "/0G-x", false},
      {"/{hex2}", "/0f0", false},
      {"/*{hex2}z", "/abcdz", true},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(match(c.pattern, c.path), c.matches ? "" : "-") << c.pattern << ' ' << c.path;
  }
}

TEST(PathPattern, NamesTheContentByItsDigest) {
  EXPECT_EQ(match("/blobs/{sha256}", "/blobs/" + std::string(64, 'A')), "sha256:" + kHex64);
  EXPECT_EQ(match("/**/{sha512}", "/x/" + kHex128), "sha512:" + kHex128);
  EXPECT_EQ(match("/**/{sha256}-*", "/repodata/" + kHex64 + "-primary.xml.gz"), "sha256:" + kHex64);
  EXPECT_EQ(match("/{sha256}/**/x", "/" + kHex64 + "/y/z/x"), "sha256:" + kHex64);
  EXPECT_EQ(match("/{sha256}", "/" + kHex64 + "a"), "-");
  EXPECT_EQ(match("/{sha256}", "/" + kHex128), "-");
  // What another way through the pattern has seen does not count.
  EXPECT_EQ(match("/**/{sha256}/**/b", "/" + kHex64 + "/a/b"), "sha256:" + kHex64);
  EXPECT_EQ(match("/**/*/b", "/" + kHex64 + "/b"), "");
}

TEST(PathPattern, IsNoneOfAnyOtherText) {
  for (const char* text :
       {"", "a", "/a**", "/**b", "/***", "/{", "/{sha1}", "/{sha256", "/{hex}", "/{hex0}",
        "/{hex129}", "/{hex-1}", "/{hex99999999999999999999}", "/{sha256}{x}"}) {
    EXPECT_FALSE(PathPattern::parse(text)) << text;
  }
  EXPECT_TRUE(PathPattern::parse("/" + std::string(255, 'a')));
  EXPECT_FALSE(PathPattern::parse("/" + std::string(256, 'a')));
}

TEST(PathPattern, TakesNoTimeThatAPathCouldMultiply) {
  std::string stars, doubles, path;
  for (int i = 0; i < 60; ++i) (stars += "*a"), (doubles += "/**/a");
  for (int i = 0; i < 4000; ++i) path += "/a";
  const std::string part(8000, 'a');
  EXPECT_EQ(match("/" + stars + "b", "/" + part), "-");
  EXPECT_EQ(match(doubles.substr(0, 250) + "/b", path), "-");
}

}  // namespace
}  // namespace proxy::mirrors
