// Answers that old or careless servers send, and whose meaning is not in doubt, on each way that
// they can take through the proxy.
#include <gtest/gtest.h>

#include "tests/scenario/caching/ways.hpp"

namespace scenario {
namespace {

class OddAnswers : public testing::TestWithParam<WayThrough> {};
INSTANTIATE_TEST_SUITE_P(Ways, OddAnswers, testing::ValuesIn(kWays),
                         [](const auto& way) { return way.param.name; });

const std::string kBody = "Cache-Control: max-age=60\r\nContent-Length: 5\r\n\r\nhello";

TEST_P(OddAnswers, AnInterimHeadEndsAtItsEmptyLineWhateverItStates) {  // RFC 9112 6.3
  for (const char* stated : {"Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n"}) {
    WayStage stage(GetParam());
    stage.origin.on("/a", Reply::raw("HTTP/1.1 103 Early Hints\r\nLink: </b>\r\n" +
                                     std::string(stated) + "\r\nHTTP/1.1 200 OK\r\n" + kBody));
    EXPECT_EQ(stage.get("/a").body, "hello") << stated;
    ASSERT_EQ(stage.client->interim().size(), 1U) << stated;
    const Response hint = stage.client->interim()[0];
    EXPECT_EQ(hint.field("Link"), "</b>");
    EXPECT_FALSE(hint.has("Content-Length") || hint.has("Transfer-Encoding")) << stated;
    EXPECT_TRUE(is_hit(stage.get("/a"))) << stated;
  }
}

TEST_P(OddAnswers, SpaceBeforeAColonIsLeftOut) {  // RFC 9112 5.1
  WayStage stage(GetParam());
  stage.origin.on("/a", Reply::raw("HTTP/1.1 200 OK\r\nX-A : b\r\nETag\t: \"e\"\r\n" + kBody));
  for (const bool hit : {false, true}) {
    const Response answer = stage.get("/a");
    EXPECT_EQ(answer.body, "hello");
    EXPECT_EQ(answer.field("X-A"), "b");
    EXPECT_EQ(answer.field("ETag"), "\"e\"");
    EXPECT_EQ(is_hit(answer), hit);
  }
  stage.origin.on("/b", Reply::raw("HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello"));
  EXPECT_EQ(stage.get("/b").status, 502);
}

TEST_P(OddAnswers, AHeadAboveALimitNamesTheSetting) {
  const json limits{{"limits", {{"head", "4KiB"}, {"fields", 30}}}, {"log", {{"format", "json"}}}};
  WayStage stage(GetParam(), limits);
  Reply many(200);
  for (int i = 0; i < 40; ++i) many.with("X-" + std::to_string(i), "1");
  stage.origin.on("/limits.fields", many);
  stage.origin.on("/limits.head", Reply(200, {{"X", std::string(5000, 'x')}}));
  for (const std::string setting : {"limits.head", "limits.fields"}) {
    const Response refused = stage.get("/" + setting);
    EXPECT_EQ(refused.status, 502);
    EXPECT_TRUE(contains(refused.body, setting)) << refused.body;
    EXPECT_TRUE(contains(nearest_cache_status(refused), "malformed exceeds/" + setting))
        << nearest_cache_status(refused);
    EXPECT_TRUE(await([&] {
      return contains(read_file(stage.proxy->access_log_path()),
                      "\"failure\":\"malformed\",\"exceeds\":\"" + setting + '"');
    }));
  }
}

// SHOUTcast's own form of a response: the client gets it in the same form, and to its end.
TEST_P(OddAnswers, AStreamOfMusicIsPassedOnAsItIs) {
  const std::string music = numbered_bytes(300'000);
  for (const Fields& fields : {Fields{{"Icy-MetaData", "1"}}, Fields{{"Range", "bytes=0-"}}}) {
    WayStage stage(GetParam());
    stage.origin.on("/a", Reply::raw("ICY 200 OK\r\nicy-name:Radio\r\nicy-metaint: 8192\r\n"
                                     "Content-Type: audio/mpeg\r\n\r\n" +
                                     music));
    for (std::size_t times = 1; times <= 2; ++times) {
      Client client(stage.proxy->port());
      client.send(stage.request("/a", fields));
      const std::string got = client.read_bytes(1'000'000);
      EXPECT_TRUE(got.starts_with("ICY 200 OK\r\n")) << got.substr(0, 80);
      const auto head = got.substr(0, got.find("\r\n\r\n") + 2);
      EXPECT_TRUE(contains(head, "\r\nicy-name: Radio\r\n")) << head;
      EXPECT_TRUE(contains(head, "\r\nicy-metaint: 8192\r\n")) << head;
      EXPECT_TRUE(contains(head, "not-stored/status")) << head;
      EXPECT_FALSE(contains(head, "chunked") || contains(head, "Content-Length")) << head;
      EXPECT_TRUE(got.substr(head.size() + 2) == music) << got.size();
      EXPECT_EQ(stage.origin.count("/a"), times) << "it is not stored";
    }
  }
}

TEST_P(OddAnswers, AStreamThatStatesItsLengthStatesItToTheClient) {
  WayStage stage(GetParam());
  stage.origin.on("/a", Reply::raw("ICY 200 OK\r\nContent-Length: 10\r\n\r\nmusic"));
  Client client(stage.proxy->port());
  client.send(stage.request("/a"));
  const std::string got = client.read_bytes(1'000'000);
  EXPECT_TRUE(contains(got, "\r\nContent-Length: 10\r\n")) << got;
  EXPECT_TRUE(got.ends_with("\r\n\r\nmusic")) << got;
}

}  // namespace
}  // namespace scenario
