#include "proxy/policy/site_rules.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace proxy::policy {
namespace {

TEST(PathGlob, MatchesWholePathsByteForByte) {
  struct Case {
    std::string glob, path;
    bool matches;
  };
  const Case cases[] = {
      {"*.deb", "/pool/a_1.deb", true},
      {"*.deb", "/pool/a_1.deb/x", false},
      {"*.deb", "/pool/a_1.DEB", false},
      {"*.deb", ".deb", true},
      {"/a", "/a", true},
      {"/a", "/ab", false},
      {"/a", "/", false},
      {"*", "", true},
      {"*", "/a/b", true},
      {"/a*", "/a", true},
      {"/a/*/c", "/a/b/c", true},
      {"/a/*/c", "/a/b/b/c", true},
      {"/a/*/c", "/a/c", false},
      {"*/by-hash/*", "/dists/main/by-hash/SHA256/00", true},
      {"*/by-hash/*", "/dists/main/by-hash", false},
      {"/?", "/a", true},
      {"/?", "/", false},
      {"/?", "/ab", false},
      {"/a?c", "/a/c", true},
      {"/?*?/", "/ab/", true},
      {"/?*?/", "/a/", false},
      {"**.deb", "/x.deb", true},
      {"*a*b*c", "/aXbXc", true},
      {"*a*b*c", "/aXcXb", false},
      {"*ab", "/aab", true},
      {"*aab*", "/aaab", true},
      {"/%C3%A4*", "/%C3%A4/x", true},
      {"/\xff*", "/\xff", true},
  };
  for (const Case& c : cases)
    EXPECT_EQ(PathGlob(c.glob).matches(c.path), c.matches) << c.glob << ' ' << c.path;
}

// The plain definition, which may take a time that grows like a power.
bool defined_match(std::string_view glob, std::string_view path) {
  if (glob.empty()) return path.empty();
  if (glob[0] == '*') {
    return defined_match(glob.substr(1), path) ||
           (!path.empty() && defined_match(glob, path.substr(1)));
  }
  return !path.empty() && (glob[0] == '?' || glob[0] == path[0]) &&
         defined_match(glob.substr(1), path.substr(1));
}

TEST(PathGlob, IsWhatTheDefinitionSays) {
  std::mt19937 random(1);
  const auto word = [&](std::string_view letters, std::size_t most) {
    std::string text;
    for (auto left = random() % (most + 1); left > 0; --left)
      text += letters[random() % letters.size()];
    return text;
  };
  int matched = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto glob = word("ab*?", 7);
    const auto path = word("ab", 8);
    ASSERT_EQ(PathGlob(glob).matches(path), defined_match(glob, path)) << glob << ' ' << path;
    matched += PathGlob(glob).matches(path) ? 1 : 0;
  }
  EXPECT_GT(matched, 1000);
}

// A search that tries again after each failure takes years for this.
TEST(PathGlob, TakesOneStepForEachByte) {
  std::string glob;
  for (int i = 0; i < 31; ++i) glob += "*a?";
  const PathGlob hard(glob + "*b");
  const std::string path(64 * 1024, 'a');
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_FALSE(hard.matches(path + 'c'));
  EXPECT_TRUE(hard.matches(path + 'b'));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(1));
}

}  // namespace
}  // namespace proxy::policy
