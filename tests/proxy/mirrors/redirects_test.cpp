#include "proxy/mirrors/redirects.hpp"

#include <gtest/gtest.h>

#include "config/endpoint.hpp"

namespace proxy::mirrors {
namespace {

const MirroredHosts& hosts() {
  static const std::vector<config::HostSpec> listed{*config::parse_host_pattern("a.test"),
                                                    *config::parse_host_pattern("*.cdn.test")};
  static const MirroredHosts hosts(listed);
  return hosts;
}

Redirect judge(Redirects& redirects, unsigned status, const std::string& lines) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " X\r\n" + lines + "\r\n";
  return redirects.judge(http::parse_response_head(text).value(), hosts());
}

Redirects from(const char* url) {
  return Redirects(*http::parse_target("GET", url));
}

TEST(Redirects, AreFollowedToListedHosts) {  // F1
  const struct {
    unsigned status;
    const char* from;
    const char* location;
    Redirect redirect;
    const char* url;  // that is asked next
  } cases[] = {
      {301, "https://a.test/x/y", "https://b.cdn.test/z?s=%2B", Redirect::followed,
       "https://b.cdn.test/z?s=%2B"},
      {302, "https://a.test/x/y", "/z", Redirect::followed, "https://a.test/z"},
      {303, "https://a.test/x/y", "z#part", Redirect::followed, "https://a.test/x/z"},
      {307, "https://a.test/x/y", "//b.cdn.test/z", Redirect::followed, "https://b.cdn.test/z"},
      {308, "https://a.test/x/y", "../z", Redirect::followed, "https://a.test/z"},
      {302, "http://a.test/x", "https://a.test/x", Redirect::followed, "https://a.test/x"},
      {302, "http://a.test/x", "http://b.cdn.test/x", Redirect::followed, "http://b.cdn.test/x"},
      {302, "https://a.test/x", "http://a.test/x", Redirect::leads_out, "https://a.test/x"},
      {302, "https://a.test/x", "https://other.test/", Redirect::leads_out, "https://a.test/x"},
      {302, "https://a.test/x", "https://a.test:8443/", Redirect::leads_out, "https://a.test/x"},
      {302, "https://a.test/x", "https://cdn.test/", Redirect::leads_out, "https://a.test/x"},
      {302, "https://a.test/x", "https://a.test/x", Redirect::circle, "https://a.test/x"},
      {302, "https://a.test/x", "", Redirect::circle, "https://a.test/x"},
      {302, "https://a.test/x", "ftp://a.test/", Redirect::no_target, "https://a.test/x"},
      {302, "https://a.test/x", "https://u:p@a.test/", Redirect::no_target, "https://a.test/x"},
      {200, "https://a.test/x", "/z", Redirect::none, "https://a.test/x"},
      {300, "https://a.test/x", "/z", Redirect::none, "https://a.test/x"},
      {304, "https://a.test/x", "/z", Redirect::none, "https://a.test/x"},
      {404, "https://a.test/x", "/z", Redirect::none, "https://a.test/x"},
  };
  for (const auto& c : cases) {
    auto redirects = from(c.from);
    EXPECT_EQ(judge(redirects, c.status, "Location: " + std::string(c.location) + "\r\n"),
              c.redirect)
        << c.location;
    EXPECT_EQ(redirects.last().url(), c.url) << c.location;
  }
}

TEST(Redirects, NeedOneLocation) {
  auto redirects = from("https://a.test/x");
  EXPECT_EQ(judge(redirects, 302, ""), Redirect::no_target);
  EXPECT_EQ(judge(redirects, 302, "Location: /y\r\nLocation: /z\r\n"), Redirect::no_target);
}

TEST(Redirects, EndInACircleAndAfterTen) {
  auto redirects = from("https://a.test/0");
  for (int i = 1; i <= 10; ++i) {
    const auto next = "Location: /" + std::to_string(i) + "\r\n";
    EXPECT_EQ(judge(redirects, 302, next), Redirect::followed) << i;
  }
  EXPECT_EQ(judge(redirects, 302, "Location: /11\r\n"), Redirect::circle);
  auto circle = from("https://a.test/0");
  EXPECT_EQ(judge(circle, 302, "Location: /1\r\n"), Redirect::followed);
  EXPECT_EQ(judge(circle, 302, "Location: /%30\r\n"), Redirect::circle);
}

// F2: what is for one origin stays with it.
TEST(RedirectedHead, AsksTheNextUrlWithoutWhatIsForTheFirst) {
  const std::string head =
      "HEAD /x%2b HTTP/1.1\r\nHost: a.test\r\nauthorization: Bearer x\r\nCookie: a=b\r\n"
      "Range: bytes=5-\r\nVia: 1.1 c\r\n\r\n";
  const auto first = *http::parse_target("GET", "https://a.test/x");
  const auto storage = *http::parse_target("GET", "https://b.cdn.test:8443/y%2bz?s=%2F");
  EXPECT_EQ(redirected_head(head, first, storage),
            "HEAD /y%2bz?s=%2F HTTP/1.1\r\nHost: b.cdn.test:8443\r\nRange: bytes=5-\r\n"
            "Via: 1.1 c\r\n\r\n");
  const auto sibling = *http::parse_target("GET", "https://a.test/y");
  EXPECT_EQ(redirected_head(head, first, sibling),
            "HEAD /y HTTP/1.1\r\nHost: a.test\r\nauthorization: Bearer x\r\nCookie: a=b\r\n"
            "Range: bytes=5-\r\nVia: 1.1 c\r\n\r\n");
}

}  // namespace
}  // namespace proxy::mirrors
