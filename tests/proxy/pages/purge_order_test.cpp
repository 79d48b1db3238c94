#include "proxy/pages/purge.hpp"

#include <gtest/gtest.h>

namespace proxy::pages {
namespace {

TEST(PurgeOrder, IsOfAUrlInItsCanonicalForm) {
  const auto order = parse_purge_order(R"({"url": "HTTP://me@A.test.:80?x"})");
  ASSERT_TRUE(order);
  EXPECT_EQ(std::get<http::Target>(*order).url(), "http://a.test/?x");
}

TEST(PurgeOrder, OrOfAllThatBeginSoOrOfAHost) {
  const auto prefix = parse_purge_order(R"({"prefix": "http://A.test:80"})");
  ASSERT_TRUE(prefix);
  EXPECT_EQ(std::get<cache::PurgePattern>(*prefix), cache::PurgePattern("http://a.test/"))
      << "not of a.test.example.com";
  const auto host = parse_purge_order(R"({"host": "*.A.test:81"} // all)");
  ASSERT_TRUE(host);
  EXPECT_TRUE(std::get<cache::PurgePattern>(*host).covers("http://b.a.test:81/"));
}

struct Wrong {
  std::string json;
  std::string complaint;  // how it begins
};

TEST(PurgeOrder, ElseSaysWhatIsWrongAndWhere) {
  const Wrong cases[] = {
      {"", "is empty; a purge is ordered like {\"url\""},
      {"\r\n", "is empty"},
      {"[]", "line 1, column 1: expected an object"},
      {"{}", "line 1, column 1: expected one of \"url\", \"prefix\" and \"host\""},
      {R"({"url": "http://a/", "host": "a"})", "line 1, column 1: expected one of"},
      {R"({"url": 7})", "line 1, column 9, url: expected a URL like"},
      {R"({"url": "/a"})", "line 1, column 9, url: expected a URL like"},
      {R"({"url": "*"})", "line 1, column 9, url: expected a URL like"},
      {R"({"url": "ftp://a/"})", "line 1, column 9, url: expected a URL like"},
      {R"({"url": "http://a/ b"})", "line 1, column 9, url: expected a URL like"},
      {R"({"prefix": "http://"})", "line 1, column 12, prefix: expected a URL like"},
      {"{\n  \"host\": \"a/b\"}", "line 2, column 11, host: expected a host like"},
      {R"({"host": "a", "space": "x"})", "line 1, column 15, space: is not a key of a purge"},
      {R"({"host": "a", "host": "b"})", "line 1, column 15, host: "},
  };
  for (const auto& c : cases) {
    const auto order = parse_purge_order(c.json);
    ASSERT_TRUE(order.has_error()) << c.json;
    EXPECT_TRUE(order.error().starts_with(c.complaint)) << c.json << ": " << order.error();
  }
}

}  // namespace
}  // namespace proxy::pages
