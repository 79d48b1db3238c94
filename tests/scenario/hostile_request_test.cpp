// Malformed and ambiguous requests. Nothing ambiguous reaches the origin. A refusal gives its
// reason and closes the connection, so that the bytes after the request have no effect.
#include <gtest/gtest.h>

#include "tests/scenario/scene.hpp"
#include "tests/support/hostile_messages.hpp"
#include "tests/support/pump.hpp"
#include "tests/support/strict_reading.hpp"

namespace scenario {
namespace {

namespace strict = support::strict;

// Requests in origin-form lead to the origin, too, under any Host.
json settings_for(std::uint16_t origin) {
  const std::string url = "http://127.0.0.1:" + std::to_string(origin);
  return {{"reverse", {{{"host", "*"}, {"to", url}}}}};
}

class HostileRequests : public testing::Test {
 protected:
  static std::optional<std::string> answer(std::string_view got) {
    const auto requests = strict::read_requests(got);
    if (requests.whole.empty()) return std::nullopt;
    const bool head = requests.whole[0].first == "HEAD";
    return std::string("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n") +
           (head ? "" : "ok");
  }

  void judge(const HostileRequest& message) {
    SCOPED_TRACE(message.name);
    const std::string trap = "GET http://\x01/behind HTTP/1.1\r\nHost: \x01\r\n\r\n";
    const auto played = pump.play(with_origin(message.text + trap, authority), answer);
    std::vector<strict::Message> arrived;
    for (const auto& bytes : played.at_origin) {
      const auto requests = strict::read_requests(bytes);
      EXPECT_NE(requests.end, strict::End::malformed) << requests.fault << '\n' << bytes;
      arrived.insert(arrived.end(), requests.whole.begin(), requests.whole.end());
    }
    for (const auto& request : arrived) EXPECT_EQ(strict::not_normal(request), "");
    const auto first = strict::read_answer(played.at_client);
    if (message.status == 200) {
      EXPECT_EQ(first.status, 200) << played.at_client;
      ASSERT_EQ(arrived.size(), 2U);
      EXPECT_EQ(arrived[1].second, "/behind");
      return;
    }
    EXPECT_TRUE(arrived.empty()) << played.at_origin[0];
    if (message.status == 0 && played.at_client.empty()) return;
    const int expected = message.status == 0 ? 400 : message.status;
    EXPECT_EQ(first.status, expected) << played.at_client;
    EXPECT_TRUE(first.end == strict::End::whole && first.rest.empty()) << played.at_client;
    EXPECT_TRUE(contains(played.at_client, "\r\nConnection: close\r\n")) << played.at_client;
    EXPECT_EQ(first.message.body.find('\n'), first.message.body.size() - 1) << "a line says why";
  }

  void judge_all(const std::vector<HostileRequest>& messages) {
    for (const auto& message : messages) judge(message);
    const auto played = pump.play(
        with_origin("GET http://\x01/good HTTP/1.1\r\nHost: \x01\r\n\r\n", authority), answer);
    EXPECT_EQ(strict::read_answer(played.at_client).message.body, "ok");
  }

  Listener at_proxy;  // proxy and pump need each other's port
  Pump pump{at_proxy.port()};
  ProxyProcess proxy{settings_for(pump.port()), at_proxy};
  std::string authority = "127.0.0.1:" + std::to_string(pump.port());
};

TEST_F(HostileRequests, InTheirHeadsAreRefusedOrForwardedInNormalForm) {
  judge_all(hostile_heads());
}

TEST_F(HostileRequests, InTheirBodiesAreNeverWholeAtTheOrigin) {
  judge_all(hostile_bodies());
}

TEST_F(HostileRequests, OfHeadAreRefusedWithoutABody) {
  for (const char* host : {"", "Host: a.0\r\n", "Host: a b\r\n"}) {
    const auto played = pump.play(std::string("HEAD /a HTTP/1.1\r\n") + host + "\r\n", answer);
    const auto refusal = strict::read_answer(played.at_client, "HEAD");
    EXPECT_EQ(refusal.status, 400);
    EXPECT_TRUE(refusal.end == strict::End::whole && refusal.rest.empty()) << played.at_client;
  }
}

TEST(HostileRequest, CutInItsBodyIsNotWholeAtTheOrigin) {
  Scene scene;
  scene.origin.on("/a", Reply(201));
  scene.client.send(request_text("PUT", scene.origin.url("/a"), {{"Content-Length", "10"}}) +
                    "half");
  ASSERT_TRUE(scene.origin.await_requests("/a", 1));
  scene.client.leave();
  EXPECT_TRUE(await([&] { return scene.origin.open_connections() == 0; }));
  EXPECT_FALSE(scene.origin.requests("/a").at(0).whole);
}

}  // namespace
}  // namespace scenario
