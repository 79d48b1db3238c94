#include <gtest/gtest.h>

#include "tests/proxy/answer/answer_scene.hpp"

namespace proxy::answer {
namespace {

TEST(LastHop, AnswersOptionsWithTheMethodsThatItForwards) {
  AnswerScene scene;
  const auto& got = scene.ask("OPTIONS http://a.test/x", "Max-Forwards: 0\r\n");
  EXPECT_EQ(got.status(), 200U);
  EXPECT_EQ(got.field("Allow"), "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE");
  EXPECT_EQ(got.content(), "");
  EXPECT_EQ(got.length(), 0U);
  EXPECT_EQ(scene.record.tag, observe::Tag::own_page);
  EXPECT_TRUE(got.finished());
}

TEST(LastHop, AnswersTraceWithTheRequestWithoutItsSecrets_Rfc9110_9_3_8) {
  AnswerScene scene;
  const auto& got = scene.ask("TRACE http://a.test/x",
                              "Max-Forwards: 0\r\nX-Told: yes\r\nCookie: secret1\r\n"
                              "Authorization: Basic secret2\r\n"
                              "Proxy-Authorization: Basic secret3\r\n");
  EXPECT_EQ(got.status(), 200U);
  EXPECT_EQ(got.field("Content-Type"), "message/http");
  EXPECT_TRUE(got.content().starts_with("TRACE ")) << got.content();
  EXPECT_NE(got.content().find("X-Told: yes\r\n"), std::string::npos) << got.content();
  EXPECT_EQ(got.content().find("secret"), std::string::npos) << got.content();
}

TEST(LastHop, ClosesAfterARequestWithABodyThatItDoesNotRead) {
  AnswerScene scene;
  EXPECT_TRUE(scene.ask("OPTIONS http://a.test/x", "Max-Forwards: 0\r\n", "body").closes());
  EXPECT_FALSE(scene.ask("OPTIONS http://a.test/x", "Max-Forwards: 0\r\n").closes());
}

TEST(LastHop, IsNotAnsweredForWhomMayNotUseUs) {
  AnswerScene scene;
  scene.client.address = *config::parse_address("203.0.113.1");
  EXPECT_EQ(scene.ask("TRACE http://a.test/x", "Max-Forwards: 0\r\n").status(), 403U);
}

TEST(LastHop, IsOneNearerForWhomItIsForwardedTo) {
  support::ScriptedOrigin origin;
  for (const std::string method : {"OPTIONS", "TRACE"}) {
    AnswerScene scene;
    scene.ask(method + " " + origin.url("/x"), "Max-Forwards: 3\r\n");
    const auto asked = origin.requests("/x");
    ASSERT_FALSE(asked.empty());
    EXPECT_EQ(asked.back().method, method);
    EXPECT_EQ(asked.back().field("Max-Forwards"), "2");
  }
}

}  // namespace
}  // namespace proxy::answer
