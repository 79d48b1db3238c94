#include "proxy/command/fetch.hpp"

#include <gtest/gtest.h>

namespace proxy::command {
namespace {

TEST(Fetch, AsksForHttpAndHttpsAlone) {
  const struct {
    const char* url;
    const char* base;
    const char* asked;
  } cases[] = {
      {"http://a.test", "", "http://a.test/"},
      {"https://a.test:8443/x?y=%2F#z", "", "https://a.test:8443/x?y=%2F"},
      {"/b?c", "https://a.test/x/y", "https://a.test/b?c"},
      {"b", "https://a.test/x/y", "https://a.test/x/b"},
      {"http://b.test/c", "https://a.test/x/y", "http://b.test/c"},
      {"ftp://a.test/", "", ""},
      {"ftp://b.test/", "https://a.test/x/y", ""},
      {"a.test/x", "", ""},
      {"http://a.test/\r\nX: y", "", ""},
      {"http://a.test/a b", "", ""},
      {"", "", ""},
  };
  for (const auto& [url, base, asked] : cases) EXPECT_EQ(url_to_ask(url, base), asked) << url;
}

TEST(Fetch, EndsAtTheHeadOfWhatTheProxyStores) {
  for (const char* stored : {"us; hit; ttl=5", "us; fwd=stale; fwd-status=304; stored"})
    EXPECT_TRUE(says_stored(stored)) << stored;
  for (const char* other : {"", "us; fwd=uri-miss; fwd-status=200; stored", "us; fwd=partial"})
    EXPECT_FALSE(says_stored(other)) << other;
}

}  // namespace
}  // namespace proxy::command
