#include "proxy/mirrors/links.hpp"

#include <gtest/gtest.h>

namespace proxy::mirrors {
namespace {

const std::string kBase = "http://cache.example:3128";
const std::string kHex(64, 'a');

// "-": the link stays.
std::string link_at(const std::string& link, const std::string& sha256 = {}) {
  const auto page = *http::parse_target("GET", "https://index.example.com/whl/torch/");
  const Place place{.origin = "https://index.example.com", .ours = kBase + "/index", .base = kBase};
  const auto links = links_at(place, page, [](const http::Target& url) {
    return url.host() == "files.example.com" && url.port() == 443;
  });
  return links(link, sha256).value_or("-");
}

TEST(Links, LeadToTheMirror) {
  const auto files = kBase + "/https/files.example.com";
  const std::pair<std::string, std::string> cases[] = {
      {"https://index.example.com/a/b?c#d", kBase + "/index/a/b?c#d"},
      {"../../a.whl", kBase + "/index/a.whl"},
      {"a%2Bcu121.whl", kBase + "/index/whl/torch/a%2Bcu121.whl"},
      {"/whl/a.whl", kBase + "/index/whl/a.whl"},
      {"//files.example.com/a", files + "/a"},
      {"https://files.example.com/a%2Bb.whl", files + "/a%2Bb.whl"},
      {"https://files.example.com:443/a#egg=b", files + "/a#egg=b"},
      // Out of the mirror, as its client would go without it.
      {"https://other.example.com/a", "-"},
      {"//other.example.com/a#b", "https://other.example.com/a#b"},
      {"https://files.example.com:8443/a", "-"},
      {"https://files.example.com.evil.example/a", "-"},
      {"https://me@files.example.com/a", "-"},
      {"mailto:a@files.example.com", "-"},
      {"javascript:alert(1)", "-"},
      {"git+https://files.example.com/a.git", "-"},
      {"/a%00b", "-"},
      {"/a%5cb", "-"},
      {"#top", "-"},
      {"", "-"},
  };
  for (const auto& [link, wanted] : cases) EXPECT_EQ(link_at(link), wanted) << link;
}

TEST(Links, NameTheDigestThatTheTextTells) {
  const auto verified = kBase + "/sha256/" + kHex + "/https/";
  EXPECT_EQ(link_at("https://files.example.com/a", kHex), verified + "files.example.com/a");
  EXPECT_EQ(link_at("/a.whl", kHex), verified + "index.example.com/a.whl");
  EXPECT_EQ(link_at("/a.whl#sha256=" + std::string(64, 'A') + "&egg=a"),
            verified + "index.example.com/a.whl#sha256=" + std::string(64, 'A') + "&egg=a");
  EXPECT_EQ(link_at("/a.whl", "aa"), kBase + "/index/a.whl");
  EXPECT_EQ(link_at("/a.whl#sha256=" + kHex + "0"), kBase + "/index/a.whl#sha256=" + kHex + "0");
  EXPECT_EQ(link_at("https://other.example.com/a", kHex), "-");
}

TEST(Links, StayWhereTheClientHasNoNameForUs) {
  const auto page = *http::parse_target("GET", "https://index.example.com/");
  const auto links = links_at({}, page, [](const http::Target&) { return true; });
  EXPECT_FALSE(links("/a", {}));
}

TEST(Edits, AreAppliedInTheOrderOfTheText) {
  std::string text = "0123456789";
  Edits edits(text.size());
  EXPECT_TRUE(edits.add({7, 9, "seven"}) && edits.add({0, 1, ""}) && edits.add({3, 4, "t"}));
  edits.apply_to(text);
  EXPECT_EQ(text, "12t456seven9");
}

TEST(Edits, AreBoundedByTheSizeOfTheText) {
  Edits edits(1000);
  std::size_t added = 0;
  while (edits.add({added, added + 1, std::string(100, 'x')})) ++added;
  EXPECT_LT(added * 100, Edits::most_memory(1000) - 1000);
}

}  // namespace
}  // namespace proxy::mirrors
