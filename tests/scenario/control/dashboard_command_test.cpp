// `hearsay dashboard`: what a browser may do that is signed in, and what others may not.
#include <gtest/gtest.h>

#include "tests/scenario/control/steered.hpp"

namespace scenario {
namespace {

// The packaged settings name no administrator either.
json without_admins() {
  return json{{"access", {{"admin", json::array()}, {"deny_to", json::array()}}}};
}

Fields with(const Fields& more, Fields fields) {
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

// The field by which a browser shows that it is signed in.
Fields sign_in(const Steered& scene, const std::string& ticket) {
  const auto answer = scene.proxy.page(
      "/hearsay/session", with(kOnPurpose, {{"Authorization", "Bearer " + ticket}}), "POST");
  EXPECT_EQ(answer.status, 200) << answer.body;
  const auto cookie = answer.field("Set-Cookie");
  return {{"Cookie", cookie.substr(0, cookie.find(';'))}};
}

// The first news of a stream that has begun.
std::string first_news(Client& client) {
  std::string text;
  while (text.find("data: ") == text.npos || !text.ends_with("\n\n")) {
    const auto byte = client.read_body(1);
    if (byte.empty()) break;
    text += byte;
  }
  return text;
}

TEST(DashboardCommand, SignsOneBrowserInUntilAllAreRevoked) {
  ScriptedOrigin origin;
  origin.on("/secret", Reply(200, {{"Cache-Control", "max-age=60"}}).body("x"));
  const Steered scene(without_admins());
  Client(scene.proxy.port()).get(origin.url("/secret"));
  const auto list = [&](const Fields& fields) {
    return scene.proxy.page("/hearsay/requests", fields);
  };
  EXPECT_EQ(list({}).status, 403) << "URLs and clients are for administrators";
  EXPECT_EQ(scene.proxy.page("/hearsay/history").status, 200);

  const Outcome printed = scene.steer("dashboard");
  EXPECT_EQ(printed.exit_code, 0) << printed.errors;
  const auto start = scene.proxy.url() + "/hearsay/sign-in#";
  ASSERT_TRUE(printed.output.starts_with(start)) << printed.output;
  const auto ticket = printed.output.substr(start.size(), printed.output.find('\n') - start.size());
  const auto badge = sign_in(scene, ticket);
  EXPECT_TRUE(contains(list(badge).body, "/secret"));

  EXPECT_EQ(scene.proxy.page("/hearsay/busiest").status, 403);
  json busiest;
  EXPECT_TRUE(await([&] {
    busiest = json::parse(scene.proxy.page("/hearsay/busiest", badge).body);
    return !busiest.at("urls").empty();
  }));
  EXPECT_EQ(busiest.at("urls").at(0).at("name"), origin.url("/secret"));
  EXPECT_EQ(busiest.at("clients").at(0).at("name"), "127.0.0.1");
  EXPECT_GE(busiest.at("clients").at(0).at("connections"), 1);

  Client watcher(scene.proxy.port()), stranger(scene.proxy.port());
  watcher.send(origin_form_text(scene.proxy.address(), "GET", "/hearsay/events", badge));
  stranger.send(origin_form_text(scene.proxy.address(), "GET", "/hearsay/events"));
  watcher.read_head();
  stranger.read_head();
  EXPECT_TRUE(contains(first_news(watcher), "\"requests\":["));
  const auto told = first_news(stranger);
  EXPECT_TRUE(contains(told, "\"digest\":{")) << told;
  EXPECT_FALSE(contains(told, "\"requests\":[")) << told;

  const auto purge = [&](const Fields& fields) {
    return scene.proxy.page("/admin/purge", fields, "POST", R"({"host": "*"})").status;
  };
  EXPECT_EQ(purge(kOnPurpose), 403) << "another user of this machine";
  EXPECT_EQ(purge(badge), 403) << "no web page may send it";
  EXPECT_EQ(purge(with(kOnPurpose, badge)), 200);

  EXPECT_EQ(scene.steer("dashboard", {"--revoke"}).output,
            "1 browser is signed out; links that were not used do not work any more\n");
  EXPECT_EQ(list(badge).status, 403);
  while (!watcher.read_body(1).empty()) {  // the stream ends
  }
}

TEST(DashboardCommand, WorksThroughTheControlSocketAlone) {
  const ProxyProcess open;
  const Outcome refused = hearsay({"dashboard", "--url", open.url()});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(contains(refused.errors, "only through the control socket")) << refused.errors;
  EXPECT_TRUE(refused.output.empty()) << refused.output;
}

}  // namespace
}  // namespace scenario
