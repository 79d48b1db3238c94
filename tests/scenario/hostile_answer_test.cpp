// Malformed and ambiguous responses of an origin. A damaged response is never stored or sent as
// whole, and the bytes after it on the connection never answer a request.
#include <gtest/gtest.h>

#include "tests/scenario/scene.hpp"
#include "tests/support/hostile_messages.hpp"
#include "tests/support/pump.hpp"
#include "tests/support/strict_reading.hpp"

namespace scenario {
namespace {

namespace strict = support::strict;

struct AnswerStage {
  // `line`: a field of each request, or nothing.
  explicit AnswerStage(std::string_view line) : field(line) {}

  strict::Answer ask(const std::string& path, const std::string& with,
                     Pump::After after = Pump::After::drops) {
    const auto request = "GET http://127.0.0.1:" + std::to_string(pump.port()) + path +
                         " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + field + "\r\n";
    asked = false;
    played = pump.play(
        request,
        [&](std::string_view got) -> std::optional<std::string> {
          if (!got.ends_with("\r\n\r\n")) return std::nullopt;
          asked = true;
          return with;
        },
        after);
    return strict::read_answer(played.at_client);
  }

  const std::string field;
  ProxyProcess proxy{json{{"threads", 1}}};  // and thus one set of idle connections
  Pump pump{proxy.port()};
  Pump::Played played;
  bool asked = false;
};

const std::string kGood =
    "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 4\r\n\r\ngood";

// An answer to credentials is for one client: it passes no fill.
class HostileAnswers : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Requests, HostileAnswers, testing::Values("", "Authorization: x\r\n"));

TEST_P(HostileAnswers, AreNeitherPassedOffAsWholeNorStored) {
  AnswerStage stage(GetParam());
  int number = 0;
  for (const auto& message : hostile_answers()) {
    SCOPED_TRACE(message.name);
    const std::string path = "/" + std::to_string(number++);
    // Leaves an idle connection. Without one, a fill asks in any case.
    stage.ask(path + "/before", kGood, Pump::After::keeps);
    const auto answer = stage.ask(path, message.text);
    const auto& shown = stage.played.at_client;
    EXPECT_NE(answer.end, strict::End::malformed) << answer.fault << '\n' << shown;
    EXPECT_FALSE(answer.odd) << shown;
    EXPECT_TRUE(answer.rest.empty()) << shown;
    if (message.status != 0) {
      EXPECT_EQ(answer.status, message.status) << shown;
      EXPECT_EQ(answer.end, strict::End::whole) << shown;
    }
    if (message.status == 200 || message.status == 204) {
      EXPECT_TRUE(answer.message.body.starts_with("abc") || answer.status == 204) << shown;
      continue;
    }
    EXPECT_TRUE(answer.end == strict::End::cut || answer.status == 502) << shown;
    const auto again = stage.ask(path, kGood);
    EXPECT_TRUE(stage.asked);
    EXPECT_EQ(again.message.body, "good") << stage.played.at_client;
  }
}

TEST_P(HostileAnswers, LeaveNothingBehindOnTheConnection) {
  const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc";
  const std::string none = "HTTP/1.1 204 No Content\r\nContent-Length: 40\r\n\r\n";
  const std::string chunked =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  int number = 0;
  const std::string hint = "HTTP/1.1 103 X\r\nContent-Length: 40\r\n\r\n";
  for (const std::string& answer :
       {ok + ok, ok + "\r\n", ok + "x", chunked + ok, none + ok, none, hint + ok, hint + ok + ok,
        "HTTP/1.1 304 X\r\nContent-Length: 3\r\n\r\nabc" + ok}) {
    AnswerStage stage(GetParam());
    stage.ask("/" + std::to_string(number++), answer, Pump::After::keeps);
    const auto next = stage.ask("/next", kGood, Pump::After::keeps);
    EXPECT_TRUE(stage.asked);
    EXPECT_EQ(next.message.body, "good") << answer << '\n' << stage.played.at_client;
  }
}

}  // namespace
}  // namespace scenario
