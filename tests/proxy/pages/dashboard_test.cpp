#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "proxy/client/arrival.hpp"
#include "proxy/pages/dashboard_files.hpp"
#include "proxy/pages/own_pages.hpp"
#include "tests/proxy/scene.hpp"

namespace proxy::pages {
namespace {

// The response to a request of this client for one of our own pages.
std::string answer_to(const std::string& target, const std::string& lines = "",
                      const std::string& client = "127.0.0.1") {
  auto settings = client::quiet_settings();
  settings.access.monitor = *config::parse_networks("192.168.0.0/16");
  Scene scene(settings);
  scene.client.address = *config::parse_address(client);
  const std::string text =
      "GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1:3128\r\n" + lines + "\r\n";
  const auto request = policy::parse_request(text, {}).value();
  scene.response.begin({1, false, false});
  request->pin(scene.policy);
  client::record_arrival(scene.client, *request);
  server::Http1Body body(scene.input, request->framing);
  return scene.received(serve_own(scene.shared.pages, scene.client, *request,
                                  *own_page(scene.client, *request), body));
}

std::string status_of(const std::string& response) {
  return response.substr(9, 3);
}
bool has(const std::string& response, std::string_view text) {
  return response.find(text) != std::string::npos;
}
const std::string kBrowser = "Accept: text/html,application/xhtml+xml;q=0.9\r\n";

TEST(Dashboard, IsAtTheRootForABrowserAndTheTextIndexForOthers) {
  const auto page = answer_to("/", kBrowser);
  EXPECT_TRUE(has(page, "Content-Type: text/html; charset=utf-8\r\n")) << page.substr(0, 400);
  EXPECT_TRUE(has(page, "<!doctype html>"));
  const auto index = answer_to("/", "Accept: */*\r\n");
  EXPECT_TRUE(has(index, "Content-Type: text/plain; charset=utf-8\r\n"));
  for (const auto& response : {page, index}) EXPECT_TRUE(has(response, "Vary: Accept\r\n"));
}

TEST(Dashboard, ServesEachOfItsFilesWithItsType) {
  EXPECT_GT(dashboard_files().size(), 10U);
  for (const auto& file : dashboard_files()) {
    const auto response = answer_to("/hearsay/" + std::string(file.name));
    EXPECT_EQ(status_of(response), "200") << file.name;
    EXPECT_TRUE(response.ends_with(file.content)) << file.name;
    EXPECT_FALSE(has(response, "octet-stream")) << file.name;
  }
  EXPECT_EQ(status_of(answer_to("/hearsay/")), "200");
  EXPECT_EQ(status_of(answer_to("/hearsay/no.js")), "404");
  // Everybody is led on: the cookie of a browser that is signed in is for paths below it.
  const auto moved = answer_to("/hearsay", "", "203.0.113.1");
  EXPECT_EQ(status_of(moved), "308");
  EXPECT_EQ(status_of(answer_to("/hearsay?from=mail")), "308");
  EXPECT_EQ(status_of(answer_to("/hearsay/main.js?2")), "200");
  EXPECT_TRUE(has(moved, "Location: /hearsay/\r\n"));
}

TEST(Dashboard, LoadsNothingFromElsewhere) {
  for (const auto& file : dashboard_files()) {
    if (file.name.ends_with(".svg")) continue;  // its namespace is a URL
    for (const auto* text : {"src=\"http", "href=\"http", "from 'http", "@import", "url("}) {
      EXPECT_EQ(file.content.find(text), std::string_view::npos) << file.name << ": " << text;
    }
  }
}

TEST(Dashboard, MayRunOnlyItsOwnScripts) {
  const auto page = answer_to("/hearsay/");
  EXPECT_TRUE(has(page, "Content-Security-Policy: default-src 'none'; script-src 'self'; "));
  EXPECT_TRUE(has(page, "frame-ancestors 'none'"));
  EXPECT_FALSE(has(page, "unsafe"));
  EXPECT_TRUE(has(page, "X-Content-Type-Options: nosniff\r\n"));
}

TEST(Dashboard, IsNotSentAgainToABrowserThatHasIt) {
  const auto file = answer_to("/hearsay/main.js");
  EXPECT_TRUE(has(file, "Cache-Control: no-cache\r\n"));
  const auto at = file.find("ETag: ");
  const auto etag = file.substr(at + 6, file.find("\r\n", at) - at - 6);
  const auto again = answer_to("/hearsay/main.js", "If-None-Match: " + etag + "\r\n");
  EXPECT_EQ(status_of(again), "304");
  EXPECT_TRUE(again.ends_with("\r\n\r\n"));
}

TEST(Dashboard, ShowsURLsAndClientsToAdminsAlone) {
  EXPECT_EQ(status_of(answer_to("/hearsay/requests", "", "192.168.0.1")), "403");
}

TEST(Dashboard, HasAPageToSignInForEverybody) {
  for (const auto* path :
       {"/hearsay/sign-in", "/hearsay/sign-in.js", "/hearsay/icon.svg", "/hearsay/style.css"}) {
    EXPECT_EQ(status_of(answer_to(path, "", "203.0.113.1")), "200") << path;
  }
  EXPECT_TRUE(has(answer_to("/hearsay/sign-in"), "src=\"/hearsay/sign-in.js\""));
}

TEST(Dashboard, IsForMonitorsAndTellsWhetherTheyAreAdmins) {
  EXPECT_TRUE(has(answer_to("/hearsay/about"), "\"admin\":true"));
  EXPECT_TRUE(has(answer_to("/hearsay/about", "", "192.168.0.1"), "\"admin\":false"));
  for (const auto* path : {"/hearsay/", "/hearsay/main.js", "/hearsay/about", "/hearsay/history",
                           "/hearsay/requests", "/hearsay/events"}) {
    EXPECT_EQ(status_of(answer_to(path, "", "203.0.113.1")), "403") << path;
  }
  for (const auto* path : {"/admin/cache/sums", "/hearsay/origins"}) {
    EXPECT_EQ(status_of(answer_to(path, "", "192.168.0.1")), "403") << path;
  }
}

TEST(Dashboard, TellsSinceWhenTheProxyRuns) {
  const auto page = answer_to("/hearsay/about");
  const auto about = nlohmann::json::parse(page.substr(page.find("\r\n\r\n") + 4));
  const std::chrono::sys_seconds started(
      std::chrono::seconds(about.at("started").get<std::int64_t>()));
  EXPECT_LE(started, std::chrono::system_clock::now());
  EXPECT_GT(started, std::chrono::system_clock::now() - std::chrono::minutes(1));
}

TEST(Dashboard, HasTheHistoryOfAnHourAndOfADay) {
  EXPECT_TRUE(has(answer_to("/hearsay/history"), "{\"step_seconds\":1,"));
  EXPECT_TRUE(has(answer_to("/hearsay/history?span=hour"), "\"requests\":[]"));
  EXPECT_TRUE(has(answer_to("/hearsay/history?span=day"), "{\"step_seconds\":60,"));
  EXPECT_EQ(status_of(answer_to("/hearsay/history?span=year")), "400");
  EXPECT_EQ(status_of(answer_to("/hearsay/history?spam=day")), "400");
}

}  // namespace
}  // namespace proxy::pages
