#include "proxy/mirrors/answer_head.hpp"

#include <gtest/gtest.h>

namespace proxy::mirrors {
namespace {

constexpr std::string_view kAdded =
    "X-Content-Type-Options: nosniff\r\nContent-Security-Policy: sandbox; default-src 'none'\r\n";

std::string head_of(const std::string& lines) {
  return harmless_head("HTTP/1.1 200 OK\r\n" + lines, {});
}

TEST(HarmlessHead, LacksWhatWouldActOnOurOrigin) {  // W5
  for (const char* name :
       {"Set-Cookie", "set-cookie", "Set-Cookie2", "Strict-Transport-Security", "Alt-Svc",
        "Clear-Site-Data", "Public-Key-Pins", "NEL", "Report-To", "Reporting-Endpoints",
        "Service-Worker-Allowed", "Refresh", "Location"}) {
    const auto head = head_of("Content-Type: text/plain\r\n" + std::string(name) + ": x\r\n");
    EXPECT_EQ(head, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" + std::string(kAdded));
  }
}

TEST(HarmlessHead, ChallengesToolsAlone) {
  const std::string lines = "WWW-Authenticate: Basic realm=\"a\"\r\nauthentication-info: b\r\n";
  EXPECT_EQ(harmless_head("HTTP/1.1 200 OK\r\n" + lines, {.is_browser = true}), head_of(""));
  EXPECT_NE(head_of(lines).find(lines), std::string::npos);
}

TEST(HarmlessHead, LacksALinkPastTheMirror) {
  EXPECT_EQ(head_of("Link: <https://cas>; rel=\"XET-auth\"\r\n").find("cas"), std::string::npos);
  EXPECT_NE(head_of("Link: </a?page=2>; rel=\"next\"\r\n").find("page=2"), std::string::npos);
}

TEST(HarmlessHead, LacksTheFieldsOfXet) {
  EXPECT_EQ(head_of("X-Xet-Hash: a\r\nx-xet-refresh-route: b\r\n"), head_of(""));
  EXPECT_NE(head_of("X-Xeta: a\r\n"), head_of(""));
}

struct LinkCase {
  const char* name;
  const char* link;
  const char* as_found;
};
class HarmlessLink : public testing::TestWithParam<LinkCase> {};

TEST_P(HarmlessLink, LeadsToTheMirror) {  // W2
  const Place place{"https://models.example.com", "http://cache.example:3128/models"};
  const auto head =
      harmless_head("HTTP/1.1 200 OK\r\nlink: " + std::string(GetParam().link) + "\r\n", place);
  const auto from = head.find("link: ") + 6;
  EXPECT_EQ(head.substr(from, head.find('\r', from) - from), GetParam().as_found);
}

INSTANTIATE_TEST_SUITE_P(
    Table, HarmlessLink,
    testing::Values(LinkCase{"OfTheOrigin",
                             R"(<https://models.example.com/api/a?cursor=b%3D>; rel="next")",
                             R"(<http://cache.example:3128/models/api/a?cursor=b%3D>; rel="next")"},
                    LinkCase{"OfAPath", "</api/a?cursor=b>; rel=next",
                             "<http://cache.example:3128/models/api/a?cursor=b>; rel=next"},
                    LinkCase{"EachOfTwo", "</a>; rel=prev, </b>; rel=next",
                             "<http://cache.example:3128/models/a>; rel=prev, "
                             "<http://cache.example:3128/models/b>; rel=next"},
                    LinkCase{"ButNotOfAnotherServer",
                             "<https://models.example.com.evil.example/a>; rel=next",
                             "<https://models.example.com.evil.example/a>; rel=next"},
                    LinkCase{"ButNotWithoutAScheme", "<//other.example/a>; rel=next",
                             "<//other.example/a>; rel=next"},
                    LinkCase{"ButNotOfAnotherPort", "<https://models.example.com:8443/a>",
                             "<https://models.example.com:8443/a>"},
                    LinkCase{"ButNotWithoutAnEnd", "<https://models.example.com/a",
                             "<https://models.example.com/a"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(PlaceOf, IsWhereTheClientAsksForTheServer) {
  const auto url = *http::parse_target("GET", "https://models.example.com/api/a%2Bb?c=d");
  const auto place = [&url](std::string_view asked, std::string_view base = "http://cache:3128") {
    return place_of(asked, base, url).ours;
  };
  EXPECT_EQ(place("/hub/api/a%2Bb?c=d"), "http://cache:3128/hub");
  EXPECT_EQ(place("/https/models.example.com/api/a%2Bb?c=d"),
            "http://cache:3128/https/models.example.com");
  EXPECT_EQ(place("http://cache:3128/hub/api/a%2Bb?c=d"), "http://cache:3128/hub");
  EXPECT_EQ(place("/api/a%2Bb?c=d"), "http://cache:3128");
  EXPECT_EQ(place("/other"), "");
  EXPECT_EQ(place("/hub/api/a%2Bb?c=d", ""), "");
  EXPECT_EQ(place("/hub/api/a%2Bb?c=d", "https://front"), "https://front/hub");
  EXPECT_EQ(place_of("/hub/api/a%2Bb?c=d", "http://cache", url).origin,
            "https://models.example.com");
}

// W2: a registry knows nothing of the name that clients give it.
TEST(PlaceOf, NamesTheRegistryAsTheClientDoes) {
  const auto url = *http::parse_target("GET", "https://r.example/v2/library/a/tags/list?n=1");
  const std::pair<const char*, const char*> cases[] = {
      {"/v2/a/tags/list?n=1", "http://cache/v2/library/a/tags/list?last=b&n=1"},
      {"/v2/r.example/a/tags/list?n=1", "http://cache/v2/r.example/library/a/tags/list?last=b&n=1"},
      {"/v2/a/tags/list?n=1&ns=r.example",
       "http://cache/v2/library/a/tags/list?last=b&n=1&ns=r.example"},
      {"http://cache/v2/r.example/library/a/tags/list?n=1",
       "http://cache/v2/r.example/library/a/tags/list?last=b&n=1"},
  };
  for (const auto& [asked, found] : cases) {
    for (const char* link :
         {"</v2/library/a/tags/list?last=b&n=1>; rel=\"next\"",
          "<https://r.example/v2/library/a/tags/list?last=b&n=1>; rel=\"next\""}) {
      const auto head = harmless_head("HTTP/1.1 200 OK\r\nLink: " + std::string(link) + "\r\n",
                                      place_of(asked, "http://cache", url));
      EXPECT_NE(head.find("Link: <" + std::string(found) + ">; rel"), head.npos) << asked << head;
    }
  }
}

TEST(HarmlessHead, KeepsAllElseInItsOrder) {
  const std::string lines =
      "ETag: \"1\"\r\nContent-Type: application/octet-stream\r\nSet-Cookie-Not: x\r\n"
      "Cache-Control: max-age=9\r\nVia: 1.1 a\r\n";
  EXPECT_EQ(head_of(lines), "HTTP/1.1 200 OK\r\n" + lines + std::string(kAdded));
}

TEST(HarmlessHead, NamesNoSniffOnce) {
  const auto head = head_of("x-content-type-options: other\r\nContent-Type: text/css\r\n");
  EXPECT_EQ(head, "HTTP/1.1 200 OK\r\nContent-Type: text/css\r\n" + std::string(kAdded));
}

// Whatever the type: browsers read "text/plain;,text/html" as HTML.
TEST(HarmlessHead, LocksUpWhatABrowserMayRun) {  // S1
  for (const char* lines :
       {"Content-Type: text/html\r\n", "Content-Type: text/plain;,text/html\r\n",
        "Content-Type: text/plain\r\nContent-Type: text/html\r\n", "Content-Type:\r\n", "",
        "Content-Type: image/png\r\n"}) {
    EXPECT_EQ(head_of(lines), "HTTP/1.1 200 OK\r\n" + std::string(lines) + std::string(kAdded));
  }
}

// The origin's own policy may only add to ours: browsers follow all of them.
TEST(HarmlessHead, KeepsThePolicyOfTheOrigin) {
  const auto head = head_of("Content-Security-Policy: script-src *\r\nContent-Type: text/html\r\n");
  EXPECT_NE(head.find("script-src *"), std::string::npos);
  EXPECT_TRUE(head.ends_with(kAdded));
}

// A digest is of one URL, and an encoded slash of one path.
TEST(PlaceOf, IsThatOfTheServerWithoutDigestAndEncodedSlash) {
  const auto url = *http::parse_target("GET", "https://h.test/@a/b?c");
  const auto digest = "/sha256/" + std::string(64, 'a');
  for (const auto& asked : {digest + "/https/h.test/@a/b?c", std::string("/https/h.test/@a%2fb?c"),
                            "http://cache" + digest + "/https/h.test/@a/b?c"})
    EXPECT_EQ(place_of(asked, "http://cache", url).ours, "http://cache/https/h.test") << asked;
}

}  // namespace
}  // namespace proxy::mirrors
