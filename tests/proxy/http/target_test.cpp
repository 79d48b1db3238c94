#include "proxy/http/target.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy::http {
namespace {

using Form = Target::Form;

std::string url_of(const std::string& target) {
  const auto parsed = parse_target("GET", target);
  return parsed ? parsed->url() : std::string(text(parsed.error()));
}

TEST(Target, CanonicalUrlIsSquids) {  // squid: store key over the effective request URI
  const struct {
    const char* target;
    const char* url;
  } cases[] = {
      {"http://example.com/", "http://example.com/"},
      {"HTTP://Example.COM/Index.HTML", "http://example.com/Index.HTML"},
      {"http://example.com", "http://example.com/"},
      {"http://example.com?x=1", "http://example.com/?x=1"},
      {"http://example.com/?", "http://example.com/?"},
      {"http://example.com../a", "http://example.com/a"},
      {"http://example.com.:8080/a", "http://example.com:8080/a"},
      {"http://example.com:80/a", "http://example.com/a"},
      {"http://example.com:/a", "http://example.com/a"},
      {"http://example.com:0080/a", "http://example.com/a"},
      {"http://example.com:443/a", "http://example.com:443/a"},
      {"https://example.com:443/a", "https://example.com/a"},
      {"https://example.com:80/a", "https://example.com:80/a"},
      {"http://user:pw@example.com/a", "http://example.com/a"},
      {"http://@example.com/a@b", "http://example.com/a@b"},
      {"http://h/a/../b//c/%7e%7E;p?q=%2f", "http://h/a/../b//c/%7e%7E;p?q=%2f"},
      {"http://h/a|b{c}\"", "http://h/a|b{c}\""},
      {"http://127.1/", "http://127.0.0.1/"},
      {"http://0x7f000001/", "http://127.0.0.1/"},
      {"http://2130706433/", "http://127.0.0.1/"},
      {"http://0177.0.0.01/", "http://127.0.0.1/"},
      {"http://127.0.0.1.:8080/", "http://127.0.0.1:8080/"},
      {"http://[::0:1]/", "http://[::1]/"},
      {"http://[2001:DB8:0:0::A]:8080/x", "http://[2001:db8::a]:8080/x"},
      {"http://[::FFFF:10.0.0.1]/x", "http://10.0.0.1/x"},
      {"http://a_b.1a/", "http://a_b.1a/"},
  };
  for (const auto& c : cases) EXPECT_EQ(url_of(c.target), c.url) << c.target;
}

// The origin gets the client's spelling.
TEST(Target, PathsOfHttpsHaveOneSpelling) {
  const struct {
    const char* target;
    const char* url;
  } cases[] = {
      {"https://h/%41%7a%30%2D%2e%5F%7e%2b%40%3A", "https://h/Az0-._~+@:"},
      {"https://h/%2f%20%25%3f%c3", "https://h/%2F%20%25%3F%C3"},
      {"https://h/\xc3", "https://h/%C3"},
      {"https://h/%2541", "https://h/%2541"},
      {"https://h/a?b=%2b%41", "https://h/a?b=%2b%41"},
      {"https://h/%41?%41", "https://h/A?%41"},
      {"https://h/%41%", "https://h/%41%"},  // not well encoded: left as it is
      {"https://h/%%34%31", "https://h/%%34%31"},
      {"http://h/%41%2b", "http://h/%41%2b"},  // Squid's spelling
  };
  for (const auto& c : cases) {
    const auto target = parse_target("GET", c.target);
    ASSERT_TRUE(target) << c.target;
    EXPECT_EQ(target->url(), c.url) << c.target;
    const std::string_view spelled(c.target);
    if (spelled.find('\xc3') != spelled.npos) continue;  // an origin gets no such byte
    EXPECT_EQ(target->asked_path(), spelled.substr(spelled.find("h/") + 1)) << c.target;
  }
}

TEST(Target, AUrlThatIsCanonicalIsReadAsAnyOther) {
  constexpr const char* kRests[] = {"h/",
                                    "h.example/a?b=c",
                                    "h:8080/a",
                                    "h:80/a",
                                    "h:080/a",
                                    "h:0/a",
                                    "h:65535/",
                                    "h:65536/",
                                    "h:/a",
                                    "h:8a/",
                                    "h..x/",
                                    ".h/",
                                    "h./",
                                    "H/",
                                    "a-b_c~d.1a/",
                                    "127.0.0.1/",
                                    "127.0.0.1:3128/a",
                                    "127.1/",
                                    "1.2.3.256/",
                                    "0x7f/",
                                    "1.2.3.04/",
                                    "/a",
                                    ":80/a",
                                    "u@h/",
                                    "u:1@h/a",
                                    "h?a/b",
                                    "h",
                                    "h/\xc3\xbc",
                                    "h/#",
                                    "h/a b",
                                    "h/a\t",
                                    "[::1]/",
                                    "h%41/"};
  for (const std::string rest : kRests) {
    const auto usual = parse_target("GET", "http://" + rest);
    const auto other = parse_target("GET", "HTTP://" + rest);  // takes the longer way
    ASSERT_EQ(usual.has_value(), other.has_value()) << rest;
    if (!usual) {
      EXPECT_EQ(usual.error(), other.error()) << rest;
      continue;
    }
    EXPECT_EQ(usual->url(), other->url()) << rest;
    EXPECT_EQ(usual->host(), other->host()) << rest;
    EXPECT_EQ(usual->port(), other->port()) << rest;
    EXPECT_EQ(usual->path(), other->path()) << rest;
    EXPECT_EQ(usual->authority(), other->authority()) << rest;
    EXPECT_EQ(usual->form(), other->form()) << rest;
    EXPECT_EQ(usual->had_userinfo(), other->had_userinfo()) << rest;
  }
}

TEST(Target, OfAWebSocketIsThatOfItsHttpRequest) {  // RFC 6455 4.1
  const std::pair<const char*, const char*> cases[] = {{"ws://h/a?b", "http://h/a?b"},
                                                       {"WS://H:80/", "http://h/"},
                                                       {"ws://h:8080", "http://h:8080/"},
                                                       {"wss://h:443/a", "https://h/a"},
                                                       {"wss://h:80/", "https://h:80/"}};
  for (const auto& [target, url] : cases) {
    const auto parsed = parse_target("GET", target);
    ASSERT_TRUE(parsed) << target;
    EXPECT_EQ(parsed->url(), url);
    EXPECT_EQ(parsed->port(), parse_target("GET", url)->port()) << target;
    EXPECT_EQ(parsed->https(), parse_target("GET", url)->https()) << target;
  }
  EXPECT_EQ(parse_target("GET", "wsx://h/").error(), HeadError::unsupported_scheme);
}

// Else one URL would have several names: a browser encodes what curl sends raw.
TEST(Target, RawBytesArePercentEncodedInUrlAndRequestAlike) {
  const auto absolute = parse_target("GET", "http://h/\xc3\xbc?\xff=%c3%bc");
  ASSERT_TRUE(absolute);
  EXPECT_EQ(absolute->url(), "http://h/%C3%BC?%FF=%c3%bc");
  EXPECT_EQ(absolute->path(), "/%C3%BC?%FF=%c3%bc");
  EXPECT_EQ(parse_target("GET", "/\x80", "h")->url(), "http://h/%80");
  EXPECT_EQ(parse_target("GET", "/\x80")->url(), "/%80") << "HTTP/1.0 without Host";
  EXPECT_EQ(parse_target("GET", "http://h/" + std::string(4000, '\xff')).error(),
            HeadError::target_too_long);
}

TEST(Target, RefusesWhatNoUrlMayBe) {
  const struct {
    const char* target;
    HeadError error;
  } cases[] = {
      {"", HeadError::bad_target},
      {"*", HeadError::bad_target},
      {"a", HeadError::bad_target},
      {"h:80", HeadError::bad_target},
      {"//h/a#b", HeadError::bad_target},
      {"/a b", HeadError::bad_target},
      {"http:/h/", HeadError::bad_target},
      {"://h/", HeadError::bad_target},
      {"ftp://h/", HeadError::unsupported_scheme},
      {"http:///a", HeadError::bad_host},
      {"http://:80/", HeadError::bad_host},
      {"http://./", HeadError::bad_host},
      {"http://.h/", HeadError::bad_host},
      {"http://a..b/", HeadError::bad_host},
      {"http://a,b/", HeadError::bad_host},
      {"http://a%62/", HeadError::bad_host},
      {"http://a\\b/", HeadError::bad_host},
      {"http://\xc3\xbc/", HeadError::bad_host},
      {"http://h:0/", HeadError::bad_host},
      {"http://h:65536/", HeadError::bad_host},
      {"http://h:8a/", HeadError::bad_host},
      {"http://h:80:80/", HeadError::bad_host},
      {"http://256.0.0.1/", HeadError::bad_host},
      {"http://1.2.3.4.5/", HeadError::bad_host},
      {"http://h.08/", HeadError::bad_host},
      {"http://[::1/", HeadError::bad_host},
      {"http://[::1]a/", HeadError::bad_host},
      {"http://[]/", HeadError::bad_host},
      {"http://[fe80::1%25eth0]/", HeadError::bad_host},
      {"http://[v1.a]/", HeadError::bad_host},
      {"http://::1/", HeadError::bad_host},
      {"http://a@b@c/", HeadError::bad_target},
      {"http://a\\@b/", HeadError::bad_target},
  };
  for (const auto& c : cases) EXPECT_EQ(url_of(c.target), text(c.error)) << c.target;
}

TEST(Target, TakesTheMemoryOfAUrlThatIsNotNeeded) {
  const std::string path = "/a-path-that-is-longer-than-a-string-without-memory";
  auto first = parse_target("GET", "http://a.test" + path).value();
  const auto* const memory = first.url().data();
  Target second(std::move(first).url());
  ASSERT_TRUE(parse_target("GET", path, "b.test", second));
  EXPECT_EQ(second.url(), "http://b.test" + path);
  EXPECT_EQ(second.url().data(), memory);
}

TEST(Target, LongUrlsAreRefusedByTheirCanonicalLength) {
  const std::string prefix = "http://h/";
  EXPECT_EQ(url_of(prefix + std::string(kMaxUrl - prefix.size(), 'a')).size(), kMaxUrl);
  EXPECT_EQ(url_of(prefix + std::string(kMaxUrl + 1 - prefix.size(), 'a')),
            text(HeadError::target_too_long));
  EXPECT_EQ(url_of("http://" + std::string(254, 'a') + "/"), text(HeadError::bad_host));
  // The spelling that the origin gets may be longer.
  const std::string spelled = "https://h/%2b";
  EXPECT_EQ(url_of(spelled + std::string(kMaxUrl - spelled.size(), 'a')).size(), kMaxUrl - 2);
  EXPECT_EQ(url_of(spelled + std::string(kMaxUrl + 1 - spelled.size(), 'a')),
            text(HeadError::target_too_long));
}

struct Parts {
  const char* method;
  const char* target;
  const char* host_field;
  Form form;
  const char* host;
  int port;
  const char* authority;
  const char* path;
  const char* url;
};

class TargetForms : public testing::TestWithParam<Parts> {};

TEST_P(TargetForms, GiveTheirParts) {  // RFC 9112 3.2.1 to 3.2.4
  const Parts& wanted = GetParam();
  const auto target = parse_target(wanted.method, wanted.target, wanted.host_field);
  ASSERT_TRUE(target) << text(target.error());
  EXPECT_EQ(target->form(), wanted.form);
  EXPECT_EQ(target->host(), wanted.host);
  EXPECT_EQ(target->port(), wanted.port);
  EXPECT_EQ(target->authority(), wanted.authority);
  EXPECT_EQ(target->path(), wanted.path);
  EXPECT_EQ(target->url(), wanted.url);
}

INSTANTIATE_TEST_SUITE_P(
    Rfc9112, TargetForms,
    testing::Values(
        Parts{"GET", "http://H:81/a?b", "other", Form::absolute, "h", 81, "h:81", "/a?b",
              "http://h:81/a?b"},
        Parts{"GET", "https://h", "", Form::absolute, "h", 443, "h", "/", "https://h/"},
        Parts{"GET", "http://[::1]:81/", "", Form::absolute, "::1", 81, "[::1]:81", "/",
              "http://[::1]:81/"},
        Parts{"GET", "/a?b", "H:80", Form::origin, "h", 80, "h", "/a?b", "http://h/a?b"},
        Parts{"GET", "//x/y", "h", Form::origin, "h", 80, "h", "//x/y", "http://h//x/y"},
        Parts{"GET", "/a", "", Form::origin, "", 80, "", "/a", "/a"},
        Parts{"CONNECT", "H:443", "x", Form::authority, "h", 443, "h:443", "", "h:443"},
        Parts{"CONNECT", "[::1]:80", "x", Form::authority, "::1", 80, "[::1]:80", "", "[::1]:80"},
        Parts{"OPTIONS", "*", "h:81", Form::asterisk, "h", 81, "h:81", "*", "http://h:81/"},
        Parts{"OPTIONS", "*", "", Form::asterisk, "", 80, "", "*", "*"},
        Parts{"OPTIONS", "http://h", "", Form::absolute, "h", 80, "h", "*", "http://h/"},
        Parts{"OPTIONS", "http://h/", "", Form::absolute, "h", 80, "h", "/", "http://h/"}));

TEST(Target, FormsBelongToTheirMethods) {
  for (const char* target : {"h", "h:", "/a", "http://h:443/", "u@h:443", "*", "h:443/"})
    EXPECT_FALSE(parse_target("CONNECT", target)) << target;
  EXPECT_FALSE(parse_target("GET", "*", "h"));
  EXPECT_EQ(parse_target("GET", "/", "a b").error(), HeadError::bad_host);
}

}  // namespace
}  // namespace proxy::http
