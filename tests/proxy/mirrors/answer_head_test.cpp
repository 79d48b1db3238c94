#include "proxy/mirrors/answer_head.hpp"

#include <gtest/gtest.h>

namespace proxy::mirrors {
namespace {

constexpr std::string_view kAdded =
    "X-Content-Type-Options: nosniff\r\nContent-Security-Policy: sandbox; default-src 'none'\r\n";

std::string head_of(const std::string& lines) {
  return harmless_head("HTTP/1.1 200 OK\r\n" + lines);
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

TEST(HarmlessHead, LacksALinkPastTheMirror) {
  EXPECT_EQ(head_of("Link: <https://cas>; rel=\"XET-auth\"\r\n").find("cas"), std::string::npos);
  EXPECT_NE(head_of("Link: </a?page=2>; rel=\"next\"\r\n").find("page=2"), std::string::npos);
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

}  // namespace
}  // namespace proxy::mirrors
