#include "proxy/http/host_pattern.hpp"

#include <gtest/gtest.h>

namespace proxy::http {
namespace {

struct PatternCase {
  std::string pattern;
  std::string host;
  std::uint16_t port;
  bool matches;
};

TEST(HostPattern, MatchesAsItIsWritten) {
  const PatternCase cases[] = {
      {"www.example.com", "www.example.com", 80, true},
      {"WWW.Example.COM.", "www.example.com", 443, true},
      {"www.example.com", "example.com", 80, false},
      {"example.com", "www.example.com", 80, false},
      {"*.example.com", "www.example.com", 80, true},
      {"*.example.com", "a.b.example.com", 80, true},
      {"*.example.com", "example.com", 80, false},
      {"*.example.com", ".example.com", 80, false},
      {"*.example.com", "notexample.com", 80, false},
      {"*", "a", 1, true},
      {"*", "", 80, true},
      {"*:8080", "a", 8080, true},
      {"*:8080", "a", 80, false},
      {"www.example.com:8080", "www.example.com", 8080, true},
      {"www.example.com:8080", "www.example.com", 80, false},
      {"*.example.com:443", "www.example.com", 443, true},
      {"10.0.0.1", "10.0.0.1", 80, true},
      {"[2001:DB8::0:1]", "2001:db8::1", 80, true},
      {"[2001:db8::1]:81", "2001:db8::1", 81, true},
      {"[::ffff:10.0.0.1]", "10.0.0.1", 80, true},
  };
  for (const auto& c : cases) {
    const auto written = config::parse_host_pattern(c.pattern);
    ASSERT_TRUE(written) << c.pattern;
    EXPECT_EQ(HostPattern(*written).matches(c.host, c.port), c.matches)
        << c.pattern << ' ' << c.host << ' ' << c.port;
  }
}

}  // namespace
}  // namespace proxy::http
