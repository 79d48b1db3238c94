#include "proxy/mirrors/answer_head.hpp"

#include <gtest/gtest.h>

namespace proxy::mirrors {
namespace {

constexpr std::string_view kPolicy = "Content-Security-Policy: sandbox; default-src 'none'\r\n";
constexpr std::string_view kNoSniff = "X-Content-Type-Options: nosniff\r\n";

std::string head_of(const std::string& lines) {
  return harmless_head("HTTP/1.1 200 OK\r\n" + lines);
}

TEST(HarmlessHead, LacksWhatWouldActOnOurOrigin) {  // W5
  for (const char* name : {"Set-Cookie", "set-cookie", "Set-Cookie2", "Strict-Transport-Security",
                           "Alt-Svc", "Clear-Site-Data", "Public-Key-Pins", "NEL", "Report-To",
                           "Reporting-Endpoints", "Service-Worker-Allowed", "Refresh"}) {
    const auto head = head_of("Content-Type: text/plain\r\n" + std::string(name) + ": x\r\n");
    EXPECT_EQ(head, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n" + std::string(kNoSniff));
  }
}

TEST(HarmlessHead, LacksALinkPastTheMirror) {
  EXPECT_EQ(head_of("Link: <https://cas>; rel=\"XET-auth\"\r\n").find("cas"), std::string::npos);
  EXPECT_NE(head_of("Link: </a?page=2>; rel=\"next\"\r\n").find("page=2"), std::string::npos);
}

TEST(HarmlessHead, KeepsAllElseInItsOrder) {
  const std::string lines =
      "ETag: \"1\"\r\nContent-Type: application/octet-stream\r\nSet-Cookie-Not: x\r\n"
      "Cache-Control: max-age=9\r\nVia: 1.1 a\r\n";
  EXPECT_EQ(head_of(lines), "HTTP/1.1 200 OK\r\n" + lines + std::string(kNoSniff));
}

TEST(HarmlessHead, NamesNoSniffOnce) {
  const auto head = head_of("x-content-type-options: other\r\nContent-Type: text/css\r\n");
  EXPECT_EQ(head, "HTTP/1.1 200 OK\r\nContent-Type: text/css\r\n" + std::string(kNoSniff));
}

TEST(HarmlessHead, LocksUpWhatABrowserMayRun) {  // S1
  const struct {
    const char* lines;
    bool locked;
  } cases[] = {
      {"Content-Type: text/html\r\n", true},
      {"Content-Type:\tTEXT/HTML ; charset=utf-8\r\n", true},
      {"Content-Type: application/xhtml+xml\r\n", true},
      {"Content-Type: text/xml\r\n", true},
      {"Content-Type: application/xml\r\n", true},
      {"Content-Type: image/svg+xml\r\n", true},
      {"Content-Type: application/rss+xml; a=b\r\n", true},
      {"Content-Type: application/pdf\r\n", true},
      {"Content-Type: multipart/x-mixed-replace\r\n", true},
      {"Content-Type: unknown\r\n", true},
      {"Content-Type: */*\r\n", true},
      {"Content-Type: text/\r\n", true},
      {"Content-Type:\r\n", true},
      {"", true},
      {"Content-Type: text/plain\r\nContent-Type: text/html\r\n", true},
      {"Content-Type: text/html\r\nContent-Type: text/plain\r\n", true},
      {"Content-Type: text/plain\r\n", false},
      {"Content-Type: application/javascript\r\n", false},
      {"Content-Type: application/json\r\n", false},
      {"Content-Type: application/vnd.oci.image.index.v1+json\r\n", false},
      {"Content-Type: application/octet-stream\r\n", false},
      {"Content-Type: image/png\r\n", false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(head_of(c.lines).ends_with(kPolicy), c.locked) << c.lines;
    EXPECT_NE(head_of(c.lines).find(kNoSniff), std::string::npos) << c.lines;
  }
}

// The origin's own policy may only add to ours: browsers follow all of them.
TEST(HarmlessHead, KeepsThePolicyOfTheOrigin) {
  const auto head = head_of("Content-Security-Policy: script-src *\r\nContent-Type: text/html\r\n");
  EXPECT_NE(head.find("script-src *"), std::string::npos);
  EXPECT_TRUE(head.ends_with(kPolicy));
}

}  // namespace
}  // namespace proxy::mirrors
