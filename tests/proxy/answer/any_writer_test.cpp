#include <gtest/gtest.h>

#include "tests/proxy/answer/answer_scene.hpp"

namespace proxy::answer {
namespace {

TEST(AnyWriter, GetsAnAnswerWithoutFraming) {
  AnswerScene scene;
  const auto& got = scene.ask("GET http://127.0.0.1:3128/health");
  EXPECT_TRUE(got.head().starts_with("HTTP/1.1 200 OK\r\n")) << got.head();
  EXPECT_EQ(got.head().find("Content-Length"), std::string::npos);
  EXPECT_EQ(got.content(), "{\"status\":\"ok\",\"reasons\":[]}\n");
  EXPECT_EQ(got.length(), got.content().size());
  EXPECT_TRUE(got.finished());
}

TEST(AnyWriter, GetsARefusalOfATunnelThatItCannotOffer) {
  AnswerScene scene;
  EXPECT_EQ(scene.ask("CONNECT a.test:443").status(), 501U);
  EXPECT_TRUE(scene.state.finished);
}

TEST(AnyWriter, GetsA504ForWhatIsNotStored) {
  AnswerScene scene;
  const auto& got = scene.ask("GET http://a.test/x", "Cache-Control: only-if-cached\r\n");
  EXPECT_EQ(got.status(), 504U);
}

}  // namespace
}  // namespace proxy::answer
