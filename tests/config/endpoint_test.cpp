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

TEST(ParsePeerUrl, TakesAHostAndAPortThatIs80UnlessItSays) {
  EXPECT_EQ(parse_peer_url("http://10.0.0.2:3128"), (HostPort{"10.0.0.2", 3128}));
  EXPECT_EQ(parse_peer_url("HTTP://Cache-B.lan/"), (HostPort{"cache-b.lan", 80}));
  EXPECT_EQ(parse_peer_url("http://[FD00::2]:81/"), (HostPort{"fd00::2", 81}));
}

TEST(ParseOriginUrl, TakesBothSchemes) {
  const auto plain = parse_origin_url("http://a.test");
  ASSERT_TRUE(plain);
  EXPECT_FALSE(plain->tls);
  EXPECT_EQ(plain->at, (HostPort{"a.test", 80}));
  const auto secure = parse_origin_url("HTTPS://A.test/");
  ASSERT_TRUE(secure);
  EXPECT_TRUE(secure->tls);
  EXPECT_EQ(secure->at, (HostPort{"a.test", 443}));
  EXPECT_FALSE(parse_origin_url("ftp://a.test"));
  EXPECT_FALSE(parse_origin_url("https://a.test/x"));
}

TEST(ParsePeerUrl, RefusesPathUserQueryAndWhatIsNoHost) {
  for (const std::string_view url :
       {"", "http://", "http:///", "10.0.0.2:3128", "https://b:1", "ftp://b", "http://b:1/x",
        "http://u@b:1", "http://b:1?q", "http://b:1#f", "http://b:0", "http://b:", "http://b:1//",
        "http://10.0.0.256:1", "http://10.0.2:1", "http://a b:1", "http://[b]:1", "http://[::1",
        "http://b\r\nX: y"}) {
    EXPECT_FALSE(parse_peer_url(url)) << url;
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
