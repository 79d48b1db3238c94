#include "proxy/command/squid/lines.hpp"

#include "tests/proxy/command/squid/given_files.hpp"

namespace proxy::command::squid {
namespace {

// "NUMBER name word word; ..."
std::string read(std::string_view text, const NamedTexts& texts = {}, Findings* told = nullptr) {
  Findings findings;
  std::string out;
  for (const Line& line : read_lines(text, "a.conf", given(texts), findings)) {
    out += std::to_string(line.source.number) + (line.conditional ? "?" : "") + ' ' + line.name;
    for (const Word& word : line.words)
      out += ' ' + (word.quoted ? '<' + word.text + '>' : word.text);
    out += "; ";
  }
  if (told) *told = findings;
  return out;
}

TEST(SquidLines, AreWordsWithoutComments) {
  EXPECT_EQ(read("# a comment\n\n  http_port   3128\t# ours\r\nacl a src \"/x y\" 'z'\n"),
            "3 http_port 3128; 4 acl a src </x y> <z>; ");
  EXPECT_EQ(read("acl a url_regex a#b \"open"), "1 acl a url_regex a#b \"open; ");
}

// As Squid does: a comment is not continued, and within a continued line it is passed over.
TEST(SquidLines, AreContinuedByABackslash) {
  EXPECT_EQ(read("acl a src \\\n  10.0.0.0/8 \\\n# c \\\n\n 10.1.0.0/16\nvia on"),
            "1 acl a src 10.0.0.0/8 10.1.0.0/16; 6 via on; ");
  EXPECT_EQ(read("# a \\\nhttp_access deny all\n"), "2 http_access deny all; ");
  EXPECT_EQ(read("acl a port 80\\\n81\\"), "1 acl a port 8081; ");
}

TEST(SquidLines, HaveThoseOfIncludedFilesInTheirPlace) {
  Findings told;
  EXPECT_EQ(read("via on\ninclude b\nvia off\n", {{"b", "icp_port 0\ninclude c"}, {"c", "x y"}}),
            "1 via on; 1 icp_port 0; 1 x y; 3 via off; ");
  EXPECT_EQ(read("include b\ninclude c*\nvia on", {}, &told), "3 via on; ");
  ASSERT_EQ(told.size(), 1u) << "a pattern may match nothing";
  EXPECT_EQ(told[0].what, "there is no such file");
}

TEST(SquidLines, EndWhereFilesIncludeEachOther) {
  Findings told;
  read("include b", {{"b", "include b\ninclude b\nvia on\n"}}, &told);
  EXPECT_FALSE(told.empty());
}

TEST(SquidLines, KnowWhatDependsOnACondition) {
  EXPECT_EQ(read("if ${process_number} = 1\nvia on\nif 1\nvia off\nendif\nelse\nx y\nendif\nz"),
            "2? via on; 4? via off; 7? x y; 9 z; ");
}

TEST(SquidLines, TellNoPasswords) {
  Findings findings;
  const auto lines =
      read_lines("cache_peer a parent 1 0 login=me:secret default\ncachemgr_passwd s x", "a.conf",
                 given({}), findings);
  EXPECT_EQ(lines.at(0).text, "cache_peer a parent 1 0 login=... default");
  EXPECT_EQ(lines.at(1).text, "cachemgr_passwd ... x");
  EXPECT_EQ(lines.at(0).words.at(4).text, "login=me:secret");
}

TEST(SquidLines, AreBounded) {
  Findings told;
  std::string text;
  for (std::size_t i = 0; i < kMostLines + 10; ++i) text += "a b\n";
  EXPECT_EQ(read_lines(text, "a.conf", given({}), told).size(), kMostLines);
  EXPECT_EQ(told.size(), 1u);
}

}  // namespace
}  // namespace proxy::command::squid
