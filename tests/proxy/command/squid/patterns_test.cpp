#include "proxy/command/squid/patterns.hpp"

#include <gtest/gtest.h>

namespace proxy::command::squid {
namespace {

// "HOST PATH, HOST PATH".
std::string texts(const std::optional<UrlPatterns>& all) {
  if (!all) return "none";
  std::string out;
  for (const UrlPattern& each : *all) {
    out += (out.empty() ? "" : ", ") + each.host + (each.path.empty() ? "" : ' ' + each.path);
  }
  return out;
}

struct PatternCase {
  std::string_view expression, patterns;
};

TEST(UrlPatterns, AreMadeOfTheUsualExpressions) {
  for (const PatternCase& c :
       {PatternCase{".", "*"},
        PatternCase{".*", "*"},
        PatternCase{"^http:", "*"},
        PatternCase{"\\.deb$", "* *.deb"},
        PatternCase{"\\.(deb|u?deb)$", "* *.deb, * *.udeb"},
        PatternCase{"/by-hash/", "* */by-hash/*"},
        PatternCase{"\\.mp[34]$", "* *.mp3, * *.mp4"},
        PatternCase{"\\.ms[i|u|f]$", "* *.msi, * *.msu, * *.msf"},
        PatternCase{"\\.deb(\\?.*)?$", "* *.deb"},
        PatternCase{".deb$", "* *?deb"},
        PatternCase{"^http://example\\.com/a/", "example.com /a/*"},
        PatternCase{"^https?://example\\.com/a\\.b$", "example.com /a.b"},
        PatternCase{"^http://.*\\.example\\.com/", "*.example.com"},
        PatternCase{"^http://[^/]*\\.example\\.com/", "*.example.com"},
        PatternCase{"^http://example\\.com:8080/", "example.com:8080"},
        PatternCase{"^ftp:", ""},
        PatternCase{"^gopher:", ""},
        PatternCase{"Packages$", "* *Packages"},
        PatternCase{"/a/(b|c(d|e)?)$", "* */a/b, * */a/cd, * */a/ce, * */a/c"},
        PatternCase{"cvmfs.*\\.cern$", "* *cvmfs*.cern"}}) {
    EXPECT_EQ(texts(url_patterns_of(c.expression)), c.patterns) << c.expression;
  }
}

TEST(UrlPatterns, AreNotMadeOfWhatGlobsCannotSay) {
  for (const std::string_view expression : {"(/cgi-bin/|\\?)",
                                            "\\?",
                                            "[a-z]+\\.tar",
                                            "/v[0-9]+/",
                                            "a{2}",
                                            "(a",
                                            "a)",
                                            "[a",
                                            "a**",
                                            "a??",
                                            "(a)??",
                                            "a.+?b",
                                            "a.*?b",
                                            "[^/]+?",
                                            "\\d",
                                            "/a\\*b",
                                            "x\\?y=1",
                                            "/a/[^/]*/b",
                                            "a|b|(",
                                            "(?=a)",
                                            "a^b",
                                            "a$b",
                                            "+",
                                            "cvmfs.*\\.cern\\.ch",
                                            "cvmfs.*\\.cern\\.ch/a",
                                            "cgi-bin",
                                            "cern\\.ch",
                                            "\\.cern\\.ch",
                                            "^http://example.com/",
                                            "^http://example\\.com",
                                            "^http://.*example\\.com/",
                                            "windowsupdate.com/.*\\.cab$",
                                            "10\\.0\\.0\\.1/a"}) {
    EXPECT_EQ(texts(url_patterns_of(expression)), "none") << expression;
  }
}

TEST(UrlPatterns, OfPathsBeginAtTheSlash) {
  EXPECT_EQ(texts(path_patterns_of("^/a/")), "* /a/*");
  EXPECT_EQ(texts(path_patterns_of("cgi-bin")), "* *cgi-bin*");
  EXPECT_EQ(texts(path_patterns_of("\\?")), "none");
  EXPECT_EQ(texts(path_patterns_of("^a")), "none");
}

TEST(UrlPatterns, AreBounded) {
  std::string many;
  for (int i = 0; i < 20; ++i) many += "(a|b)";
  EXPECT_EQ(url_patterns_of(many), std::nullopt);
  EXPECT_EQ(url_patterns_of(std::string(100'000, '(')), std::nullopt);
  EXPECT_EQ(url_patterns_of(std::string(100'000, 'a')), std::nullopt);
  EXPECT_EQ(url_patterns_of('/' + std::string(70, 'a')), std::nullopt)
      << "longer than a glob can be";
}

std::string hosts(const std::vector<std::string>& all) {
  std::string out;
  for (const std::string& each : all) out += (out.empty() ? "" : " ") + each;
  return out;
}

TEST(Hosts, AreMadeOfExpressionsThatSayExactlyThat) {
  for (const PatternCase& c :
       {PatternCase{"\\.example\\.com$", "*.example.com"},
        PatternCase{"^a\\.example$", "a.example"},
        PatternCase{"(^|\\.)example\\.com$", "example.com *.example.com"},
        PatternCase{"^.*\\.Example\\.com$", "*.example.com"}, PatternCase{"example\\.com$", ""},
        PatternCase{"^example\\.com", ""}, PatternCase{"^example.com$", ""},
        PatternCase{"^example\\.com:80$", ""}, PatternCase{"ads", ""}}) {
    EXPECT_EQ(hosts(hosts_of(c.expression)), c.patterns) << c.expression;
  }
}

TEST(Hosts, OfADomainAreTheHostsBelowItToo) {
  EXPECT_EQ(hosts(hosts_of_domain(".Example.com")), "example.com *.example.com");
  EXPECT_EQ(hosts(hosts_of_domain("example.com.")), "example.com");
  EXPECT_EQ(hosts(hosts_of_domain("192.0.2.1")), "192.0.2.1");
  for (const std::string_view no :
       {"", ".", "a b", "a:80", "*", "*.a", ".192.0.2.1", "a/b", "[::1]"}) {
    EXPECT_EQ(hosts(hosts_of_domain(no)), "") << no;
  }
}

}  // namespace
}  // namespace proxy::command::squid
