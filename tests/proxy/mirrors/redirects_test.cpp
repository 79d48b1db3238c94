#include "proxy/mirrors/redirects.hpp"

#include <gtest/gtest.h>

#include "config/endpoint.hpp"
#include "proxy/mirrors/mirrored_url.hpp"

namespace proxy::mirrors {
namespace {

using namespace std::chrono_literals;

const MirroredHosts& hosts() {
  static const std::vector<config::HostSpec> listed{*config::parse_host_pattern("a.test"),
                                                    *config::parse_host_pattern("*.cdn.test")};
  static const MirroredHosts hosts(listed);
  return hosts;
}

Redirect judge(Redirects& redirects, unsigned status, const std::string& lines) {
  std::string text = "HTTP/1.1 " + std::to_string(status) + " X\r\n" + lines + "\r\n";
  return redirects.judge(http::parse_response_head(text).value(),
                         [](const http::Target& url) { return hosts().have(url); });
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
  EXPECT_EQ(judge(circle, 302, "Location: /0\r\n"), Redirect::circle);
}

// The name of both in the cache is one, but the server has two.
TEST(Redirects, LeadFromOneSpellingToAnother) {
  auto redirects = from("https://a.test/a%2Bb/c");
  EXPECT_EQ(judge(redirects, 301, "Location: /a+b/c\r\n"), Redirect::followed);
  EXPECT_EQ(redirects.last().asked_path(), "/a+b/c");
  EXPECT_EQ(judge(redirects, 301, "Location: /a%2bb/c\r\n"), Redirect::followed);
  EXPECT_EQ(judge(redirects, 301, "Location: d\r\n"), Redirect::followed);
  EXPECT_EQ(redirects.last().asked_path(), "/a%2bb/d");
  EXPECT_EQ(judge(redirects, 301, "Location: c\r\n"), Redirect::circle);
}

TEST(BoundingControl, LetsNothingLastLongerThanTheRedirects) {  // F7
  const struct {
    const char* rule;
    const char* own;  // Cache-Control of the answer
    SaidOnTheWay said;
    const char* written;
  } cases[] = {
      {"asks for no more", "max-age=60, immutable", {.lasts = 60s}, ""},
      {"lasts longer", "public, max-age=600, immutable", {.lasts = 60s}, "public, max-age=60"},
      {"may be served stale for longer",
       "max-age=9, stale-while-revalidate=600, stale-if-error=9",
       {.lasts = 60s},
       "max-age=9"},
      {"shared caches keep it for longer",
       "s-maxage=600, max-age=9",
       {.lasts = 60s},
       "max-age=9, s-maxage=60"},
      {"clients are told nothing", "s-maxage=600", {.lasts = 60s}, "max-age=0, s-maxage=60"},
      {"keeps its own conditions",
       "max-age=600, must-revalidate, no-cache, no-transform",
       {.lasts = 0s},
       "no-cache, must-revalidate, no-transform, max-age=0"},
      {"names fields for one client", "max-age=600, private=\"A\"", {.lasts = 60s}, "no-store"},
      {"is for one client", "private, max-age=600", {.lasts = 60s}, "no-store"},
      {"has a quote that never closes", "max-age=600, private=\"a", {.lasts = 60s}, "no-store"},
      {"is kept by nobody", "max-age=9", {.may_be_kept = false, .lasts = 60s}, "no-store"},
  };
  for (const auto& c : cases) {
    http::Fields fields;
    fields.append("Cache-Control", c.own);
    const auto own = http::cache_control(fields);
    const auto lifetime = own.s_maxage.value_or(own.max_age.value_or(0s));
    EXPECT_EQ(bounding_control(own, lifetime, c.said), c.written) << c.rule;
  }
}

TEST(FieldsForFirst, LackWhatAnotherOriginSaysForItself) {
  const auto text_of = [](const Redirects& way, const WrittenAnew& anew) {
    http::Fields fields;
    for (const char* name : {"Set-Cookie", "Cache-Control", "CDN-Cache-Control", "Vary"})
      fields.append(name, "x");
    std::string text;
    for (const auto& line : fields_for_first(fields, way, anew)) {
      ((text += line.name) += '=') += line.value;
      text += ' ';
    }
    return text;
  };
  auto way = from("https://a.test/x");
  judge(way, 302, "Location: /y\r\n");
  EXPECT_EQ(text_of(way, {}), "Set-Cookie=x Cache-Control=x CDN-Cache-Control=x Vary=x ");
  judge(way, 302, "Location: https://b.cdn.test/\r\n");
  const std::vector<std::string> targeted{"CDN-Cache-Control"};
  EXPECT_EQ(text_of(way, {.control = "max-age=1", .vary = "A", .targeted = targeted}),
            "Vary=x Cache-Control=max-age=1 Vary=A ");
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

// F2
TEST(RedirectedHead, HasNoCredentialForAnotherPortOrScheme) {
  const std::string head =
      "GET /x HTTP/1.1\r\nHost: a.test\r\nAuthorization: Basic x\r\nCookie: a=b\r\n"
      "Proxy-Authorization: Basic y\r\nX-Api-Key: z\r\n\r\n";
  const auto first = *http::parse_target("GET", "https://a.test/x");
  for (const auto& [to, host] : std::vector<std::pair<std::string, std::string>>{
           {"https://a.test:8443/x", "a.test:8443"}, {"http://a.test/x", "a.test"}}) {
    EXPECT_EQ(redirected_head(head, first, *http::parse_target("GET", to)),
              "GET /x HTTP/1.1\r\nHost: " + host + "\r\n\r\n")
        << to;
  }
}

}  // namespace
}  // namespace proxy::mirrors
