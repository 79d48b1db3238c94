#include "config/endpoint.hpp"

#include <gtest/gtest.h>

namespace config {
namespace {

TEST(ParseListen, TakesAnAddressAndAPort) {
  EXPECT_EQ(parse_listen("127.0.0.1:3128"), (HostPort{"127.0.0.1", 3128}));
  EXPECT_EQ(parse_listen("[2001:DB8::1]:0"), (HostPort{"2001:db8::1", 0}));
  EXPECT_EQ(parse_listen("0.0.0.0:65535"), (HostPort{"0.0.0.0", 65535}));
}

TEST(ParseListen, RefusesNamesAndWhatIsHalfAnAddress) {
  for (const std::string_view text :
       {"", ":3128", "3128", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1",
        "127.0.0.1: 80", "localhost:80", "::1:3128", "[::1]", "[::1:80", "[127.0.0.1]:80",
        "[::1]x:80", "1.2.3:80"}) {
    EXPECT_FALSE(parse_listen(text)) << text;
  }
}

TEST(ParseServerUrl, TakesAHostAndAPortThatIs80UnlessItSays) {
  struct Case {
    std::string_view url;
    HostPort at;
  };
  for (const Case& c : {
           Case{"http://10.0.0.2:3128", {"10.0.0.2", 3128}},
           Case{"HTTP://Cache-B.lan/", {"cache-b.lan", 80}},
           Case{"http://[FD00::2]:81/", {"fd00::2", 81}},
       }) {
    const auto url = parse_server_url(c.url);
    ASSERT_TRUE(url) << c.url;
    EXPECT_FALSE(url->tls) << c.url;
    EXPECT_EQ(url->at, c.at) << c.url;
  }
}

TEST(ParseServerUrl, TakesHttpsToo) {
  const auto secure = parse_server_url("HTTPS://A.test/");
  ASSERT_TRUE(secure);
  EXPECT_TRUE(secure->tls);
  EXPECT_EQ(secure->at, (HostPort{"a.test", 443}));
}

TEST(ParseServerUrl, RefusesPathUserQueryAndWhatIsNoHost) {
  for (const std::string_view url :
       {"", "http://", "http:///", "10.0.0.2:3128", "https://b:1/x", "ftp://b", "http://b:1/x",
        "http://u@b:1", "http://b:1?q", "http://b:1#f", "http://b:0", "http://b:", "http://b:1//",
        "http://10.0.0.256:1", "http://10.0.2:1", "http://a b:1", "http://[b]:1", "http://[::1",
        "http://b\r\nX: y"}) {
    EXPECT_FALSE(parse_server_url(url)) << url;
  }
}

TEST(IsOurselves, KnowsTheWaysToWriteOurOwnSocket) {
  struct Case {
    HostPort peer, listen;
    bool expected;
  };
  for (const Case& c : {
           Case{{"127.0.0.1", 1}, {"127.0.0.1", 1}, true},
           Case{{"127.0.0.1", 2}, {"127.0.0.1", 1}, false},
           Case{{"127.0.0.2", 1}, {"127.0.0.1", 1}, false},
           Case{{"::ffff:127.0.0.1", 1}, {"127.0.0.1", 1}, true},
           Case{{"0:0::1", 1}, {"::1", 1}, true},
           Case{{"localhost", 1}, {"127.0.0.1", 1}, true},
           Case{{"localhost", 1}, {"10.0.0.1", 1}, false},
           Case{{"127.0.0.1", 1}, {"0.0.0.0", 1}, true},
           Case{{"localhost", 1}, {"::", 1}, true},
           Case{{"10.0.0.1", 1}, {"0.0.0.0", 1}, false},
           Case{{"cache-b", 1}, {"10.0.0.1", 1}, false},
       }) {
    EXPECT_EQ(is_ourselves(c.peer, c.listen), c.expected) << c.peer.host << ' ' << c.listen.host;
  }
}

}  // namespace
}  // namespace config
