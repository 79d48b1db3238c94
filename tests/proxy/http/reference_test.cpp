#include "proxy/http/target.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy::http {
namespace {

Target target(const std::string& url) {
  return parse_target("GET", url).value();
}

std::string resolved(const std::string& base, const std::string& reference) {
  const auto result = resolve(target(base), reference);
  return result ? result->url() : "none";
}

TEST(Reference, ResolvesAsRfc3986Section54Does) {
  const struct {
    const char* reference;
    const char* url;
  } cases[] = {
      // 5.4.1
      {"g", "http://a/b/c/g"},
      {"./g", "http://a/b/c/g"},
      {"g/", "http://a/b/c/g/"},
      {"/g", "http://a/g"},
      {"//g", "http://g/"},
      {"?y", "http://a/b/c/d;p?y"},
      {"g?y", "http://a/b/c/g?y"},
      {"#s", "http://a/b/c/d;p?q"},
      {"g#s", "http://a/b/c/g"},
      {"g?y#s", "http://a/b/c/g?y"},
      {";x", "http://a/b/c/;x"},
      {"g;x", "http://a/b/c/g;x"},
      {"", "http://a/b/c/d;p?q"},
      {".", "http://a/b/c/"},
      {"./", "http://a/b/c/"},
      {"..", "http://a/b/"},
      {"../", "http://a/b/"},
      {"../g", "http://a/b/g"},
      {"../..", "http://a/"},
      {"../../g", "http://a/g"},
      // 5.4.2
      {"../../../g", "http://a/g"},
      {"../../../../g", "http://a/g"},
      {"/./g", "http://a/g"},
      {"/../g", "http://a/g"},
      {"g.", "http://a/b/c/g."},
      {"..g", "http://a/b/c/..g"},
      {"./../g", "http://a/b/g"},
      {"./g/.", "http://a/b/c/g/"},
      {"g/../h", "http://a/b/c/h"},
      {"g;x=1/../y", "http://a/b/c/y"},
      {"g?y/../x", "http://a/b/c/g?y/../x"},
      {"g#s/../x", "http://a/b/c/g"},
  };
  for (const auto& [reference, url] : cases) {
    EXPECT_EQ(resolved("http://a/b/c/d;p?q", reference), url) << reference;
  }
}

TEST(Reference, IsCanonicalAsACacheKeyIs) {
  const struct {
    const char* base;
    const char* reference;
    const char* url;
  } cases[] = {
      {"http://a/", "HTTP://EXAMPLE.com:80/x/../y#z", "http://example.com/y"},
      {"http://a/", "http://example.com", "http://example.com/"},
      {"http://a/", "http://example.com?q", "http://example.com/?q"},
      {"http://a:81/x", "y", "http://a:81/y"},
      {"https://a/x", "//b:443/y", "https://b/y"},
      {"http://[::1]/x", "?q", "http://[::1]/x?q"},
      {"http://a/x/..", "..", "http://a/"},
      {"http://a/", "b//c", "http://a/b//c"},
  };
  for (const auto& [base, reference, url] : cases) {
    EXPECT_EQ(resolved(base, reference), url) << reference;
  }
}

TEST(Reference, KeepsTheSpellingOfTheBase) {
  const auto next = resolve(target("https://a/x%2by/z?%2b"), "w");
  EXPECT_EQ(next->asked_path(), "/x%2by/w");
  EXPECT_EQ(next->url(), "https://a/x+y/w");
}

TEST(Reference, IsNoneWhereItIsNoUrlOfHttp) {
  for (const char* reference : {"mailto:a@b", "ftp://a/", "http:/a", "http:a", "http://", "//",
                                "a b", "http://a:x/", "javascript:alert(1)//x", "//a\\b/"}) {
    EXPECT_EQ(resolved("http://a/", reference), "none") << reference;
  }
  EXPECT_EQ(resolved("http://a/", std::string(kMaxUrl, 'x')), "none");
  EXPECT_FALSE(resolve(parse_target("GET", "/no-host").value(), "x"));
}

TEST(Reference, OriginsAreSchemeHostAndPort) {  // RFC 9110 4.3.1
  EXPECT_TRUE(same_origin(target("http://a/x"), target("http://A:80/y")));
  EXPECT_FALSE(same_origin(target("http://a/"), target("https://a/")));
  EXPECT_FALSE(same_origin(target("http://a/"), target("http://a:81/")));
  EXPECT_FALSE(same_origin(target("http://a/"), target("http://b/")));
}

}  // namespace
}  // namespace proxy::http
