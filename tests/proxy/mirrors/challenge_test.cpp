#include "proxy/mirrors/challenge.hpp"

#include <gtest/gtest.h>

namespace proxy::mirrors {
namespace {

using std::chrono::seconds;

std::string described(const std::vector<std::string>& lines) {
  http::Fields fields;
  for (const auto& line : lines)
    fields.append(http::field::www_authenticate, "WWW-Authenticate", line);
  const auto found = BearerChallenge::parse(fields);
  return found ? found->realm + "|" + found->service + "|" + found->scope : "none";
}

TEST(BearerChallenge, IsTheFirstOneWithARealm) {
  const struct {
    std::vector<std::string> lines;
    const char* meaning;
  } cases[] = {
      {{R"(Bearer realm="https://a/t",service="s",scope="repository:n:pull,push")"},
       "https://a/t|s|repository:n:pull,push"},
      {{R"(bearer REALM="https://a/t" , Service=s)"}, "https://a/t|s|"},
      {{R"(Basic realm="x", Bearer realm="https://a/t")"}, "https://a/t||"},
      {{R"(Bearer realm="https://a/t", Basic realm="x")"}, "https://a/t||"},
      {{R"(Negotiate YWJj/+==, Bearer realm="https://a/t")"}, "https://a/t||"},
      {{R"(Negotiate)", R"(Bearer service="s", realm="https://a/\"t")"}, "https://a/\"t|s|"},
      {{R"(Bearer error="invalid_token", realm="https://a/t")"}, "https://a/t||"},
      {{R"(Bearer service="s", Bearer realm="r")"}, "r||"},
      {{R"(,, Bearer  realm = "r" ,,)"}, "r||"},
      {{}, "none"},
      {{""}, "none"},
      {{"Bearer"}, "none"},
      {{R"(Bearer realm="")"}, "none"},
      {{R"(Bearer realm="https://a/t)"}, "none"},
      {{R"(Bearer realm="https://a/t\)"}, "none"},
      {{R"(Basic realm="Bearer realm=x")"}, "none"},
      {{R"(realm="r")"}, "none"},
      {{R"(Bearer realm=, service="s")"}, "none"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(described(c.lines), c.meaning) << (c.lines.empty() ? "" : c.lines.front());
  }
}

http::Target target_of(const std::string& url) {
  return *http::parse_target("GET", url);
}

TEST(TokenServer, IsOfTheRegistrysDomain) {  // K2
  const struct {
    const char* realm;
    const char* registry;
    bool may;
  } cases[] = {
      {"https://r.example/token", "https://r.example/", true},
      {"https://r.example:8443/token", "https://r.example/", false},
      {"https://r.example:8443/token", "https://r.example:8443/", true},
      {"https://r.example/token", "https://r.example:8443/", true},
      {"https://auth.corp.example:22/t", "https://registry.corp.example/", false},
      {"https://auth.corp.example/t", "https://registry.corp.example/", true},
      {"https://corp.example/t", "https://registry.corp.example/", true},
      {"https://a.b.corp.example/t", "https://registry.corp.example/", true},
      {"https://127.0.0.1:1/t", "https://127.0.0.1:1/", true},
      {"https://127.0.0.1:2/t", "https://127.0.0.1:1/", false},
      {"http://r.example/token", "https://r.example/", false},
      {"https://user@r.example/token", "https://r.example/", false},
      {"https://evil.example/t", "https://registry.corp.example/", false},
      {"https://evilcorp.example/t", "https://registry.corp.example/", false},
      {"https://corp.example.evil.example/t", "https://registry.corp.example/", false},
      {"https://other.example/t", "https://corp.example/", false},
      {"https://evil.co.uk/t", "https://corp.co.uk/", false},
      {"https://auth.corp.co.uk/t", "https://registry.corp.co.uk/", true},
      {"https://169.254.169.254/latest", "https://registry.corp.example/", false},
      {"https://10.2.3.4/t", "https://10.2.3.5/", false},
      {"https://[fe80::1]/t", "https://[fe80::2]/", false},
      {"https://localhost/t", "https://r.example/", false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(may_ask_for_token(target_of(c.realm), target_of(c.registry)), c.may)
        << c.realm << " for " << c.registry;
  }
}

std::string url_of(const BearerChallenge& challenge) {
  const auto url = token_url(challenge, "team/app");
  return url ? url->url() : "none";
}

TEST(TokenUrl, AsksToReadOneRepository) {
  EXPECT_EQ(url_of({"https://a.example/t", "reg", "repository:team/app:pull,push"}),
            "https://a.example/t?service=reg&scope=repository:team/app:pull");
  EXPECT_EQ(url_of({"https://a.example/t?x=1", "reg", ""}), "https://a.example/t?x=1&service=reg");
  EXPECT_EQ(url_of({"https://a.example/t#f", "a b&c", "aws"}),
            "https://a.example/t?service=a%20b%26c&scope=aws");
  // Another repository's scope is not asked for.
  EXPECT_EQ(url_of({"https://a.example/t", "", "repository:other:*"}),
            "https://a.example/t?scope=repository:team/app:pull");
  for (const char* realm : {"http://a.example/t", "a.example/t", "/t", "https://u:p@a.example/t",
                            "https:///t", "https://a.example/t\r\nX: y", "ftp://a.example/"}) {
    EXPECT_EQ(url_of({realm, "s", ""}), "none") << realm;
  }
}

TEST(AnonymousToken, IsReadFromJson) {  // K1
  const struct {
    std::string body;
    const char* text;
    int lasts;
  } cases[] = {
      {R"({"token":"abc"})", "abc", 60},
      {R"({"access_token":"abc","expires_in":300})", "abc", 300},
      {R"({"access_token":"abc","token":"def","expires_in":0})", "def", 0},
      {R"({"token":"abc","expires_in":-5})", "abc", 0},
      {R"({"token":"abc","expires_in":99999999999999999999})", "abc", 60},
      {R"({"token":"abc","expires_in":9999999999})", "abc", 86400},
      {R"({"token":"abc","expires_in":"300"})", "abc", 60},
  };
  for (const auto& c : cases) {
    const auto token = AnonymousToken::parse(c.body);
    ASSERT_TRUE(token) << c.body;
    EXPECT_EQ(token->text, c.text) << c.body;
    EXPECT_EQ(token->lasts, seconds(c.lasts)) << c.body;
  }
  const std::string none[] = {
      "",
      "abc",
      "[]",
      "{}",
      R"({"token":1})",
      R"({"token":""})",
      R"({"token":"a\r\nb"})",
      R"({"token":"a b"})",
      R"({"token":"abc")",
      std::string(60'000, '['),
      R"({"token":"abc","x":")" + std::string(AnonymousToken::kMostBytes, 'x') + "\"}"};
  for (const auto& body : none) {
    EXPECT_FALSE(AnonymousToken::parse(body)) << body.substr(0, 80);
  }
}

}  // namespace
}  // namespace proxy::mirrors
