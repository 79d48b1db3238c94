#include "proxy/client/reply.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/proxy/fill/fill_scene.hpp"
#include "tests/proxy/received.hpp"
#include "tests/support/loopback.hpp"

namespace proxy {
namespace {

namespace asio = net::asio;
using namespace std::chrono_literals;
using support::run;

struct ReplyScene : support::Loop {
  std::pair<net::Socket, net::Socket> pair = support::connected_pair(io);
  net::Stream stream{std::move(pair.first), deadlines};
  net::Socket& client = pair.second;
  Reply reply{stream, 10s};

  // All that the client got.
  std::string received() {
    stream.shutdown_send();
    return received_by(client);
  }
};

struct Response {
  unsigned status = 200;
  std::optional<std::uint64_t> length;
  std::vector<std::string> parts;  // of the body; the first goes with the head
};

net::Task<net::error_code> send(Reply& reply, Response response) {
  const std::string head = "HTTP/1.1 " + std::to_string(response.status) + " X\r\n";
  const auto first = asio::const_buffer(response.parts[0].data(), response.parts[0].size());
  auto error = co_await reply.start(head, response.status, response.length, {&first, 1});
  for (std::size_t i = 1; i < response.parts.size() && !error; ++i) {
    error = co_await reply.body(asio::buffer(response.parts[i]));
  }
  if (!error) error = co_await reply.finish();
  co_return error;
}

struct ReplyCase {
  const char* name;
  int minor;
  bool head_only;
  bool wants_more;
  Response response;
  std::string sent;  // after the status line
  bool goes_on;
};
class ReplyFraming : public testing::TestWithParam<ReplyCase> {};

TEST_P(ReplyFraming, LetsTheClientTellWhetherItGotAll) {
  const auto& tested = GetParam();
  ReplyScene scene;
  scene.reply.begin(tested.minor, tested.head_only, tested.wants_more);
  EXPECT_FALSE(run(scene.io, send(scene.reply, tested.response)));
  EXPECT_TRUE(scene.reply.finished());
  EXPECT_EQ(scene.reply.may_go_on(), tested.goes_on);
  const auto sent = "HTTP/1.1 " + std::to_string(tested.response.status) + " X\r\n" + tested.sent;
  EXPECT_EQ(scene.received(), sent);
  EXPECT_EQ(scene.reply.record().bytes, sent.size());
  EXPECT_EQ(scene.reply.record().status, tested.response.status);
}

const std::string kClose = "Connection: close\r\n\r\n";
const std::string kSized = "Content-Length: 5\r\n";
const std::string kChunks = "2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n";
const std::vector<std::string> kBody{"ab", "", "cde"};

INSTANTIATE_TEST_SUITE_P(
    Responses, ReplyFraming,
    testing::Values(
        ReplyCase{"Sized", 1, false, true, {200, 5, kBody}, kSized + "\r\nabcde", true},
        ReplyCase{
            "SizedAndLast", 1, false, false, {200, 5, kBody}, kSized + kClose + "abcde", false},
        ReplyCase{"Empty", 1, false, true, {200, 0, {""}}, "Content-Length: 0\r\n\r\n", true},
        ReplyCase{"UnknownLengthIsChunked_Rfc9112_6_1",
                  1,
                  false,
                  true,
                  {200, {}, kBody},
                  "Transfer-Encoding: chunked\r\n\r\n" + kChunks,
                  true},
        ReplyCase{"UnknownLengthAndEmpty",
                  1,
                  false,
                  true,
                  {200, {}, {""}},
                  "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                  true},
        ReplyCase{"Http10Sized",
                  0,
                  false,
                  true,
                  {200, 5, kBody},
                  kSized + "Connection: keep-alive\r\n\r\nabcde",
                  true},
        ReplyCase{"Http10UnknownLengthEndsWithTheConnection_Rfc9112_6_3",
                  0,
                  false,
                  true,
                  {200, {}, kBody},
                  kClose + "abcde",
                  false},
        ReplyCase{"HeadHasTheLengthAlone_Rfc9110_9_3_2",
                  1,
                  true,
                  true,
                  {200, 5, kBody},
                  kSized + "\r\n",
                  true},
        ReplyCase{"HeadOfUnknownLength", 1, true, true, {200, {}, kBody}, "\r\n", true},
        ReplyCase{"Http10HeadOfUnknownLengthMayGoOn",
                  0,
                  true,
                  true,
                  {200, {}, kBody},
                  "Connection: keep-alive\r\n\r\n",
                  true},
        ReplyCase{"NoContentHasNoLength_Rfc9110_8_6", 1, false, true, {204, 0, {""}}, "\r\n", true},
        ReplyCase{"NoContentNeverHasABody", 1, false, true, {204, {}, kBody}, "\r\n", true},
        ReplyCase{"NotModifiedNeverHasABody", 1, false, true, {304, 5, kBody}, "\r\n", true},
        ReplyCase{"Http10NotModifiedMayGoOn",
                  0,
                  false,
                  true,
                  {304, {}, {""}},
                  "Connection: keep-alive\r\n\r\n",
                  true}),
    [](const auto& tested) { return tested.param.name; });

TEST(Reply, ABodyShorterThanPromisedIsNeverFinished) {
  ReplyScene scene;
  scene.reply.begin(1, false, true);
  EXPECT_TRUE(run(scene.io, send(scene.reply, {200, 6, kBody})));
  EXPECT_FALSE(scene.reply.finished());
  EXPECT_FALSE(scene.reply.may_go_on());
}

TEST(Reply, NothingGoesBeyondThePromisedLength) {
  ReplyScene scene;
  scene.reply.begin(1, false, true);
  EXPECT_TRUE(run(scene.io, send(scene.reply, {200, 4, kBody})));
  EXPECT_FALSE(scene.reply.may_go_on());
  EXPECT_EQ(scene.received(), "HTTP/1.1 200 X\r\nContent-Length: 4\r\n\r\nab");
}

TEST(Reply, ACutThatTheEndOfTheConnectionWouldHideCanBeTold) {
  ReplyScene scene;
  scene.reply.begin(0, false, true);
  EXPECT_FALSE(scene.reply.close_delimited());
  const std::string part = "half";
  const auto first = asio::const_buffer(part.data(), part.size());
  EXPECT_FALSE(run(scene.io, scene.reply.start("HTTP/1.1 200 X\r\n", 200, {}, {&first, 1})));
  EXPECT_TRUE(scene.reply.close_delimited());
  EXPECT_FALSE(scene.reply.may_go_on());
}

TEST(Reply, EachResponseIsFramedByItself) {
  ReplyScene scene;
  scene.reply.begin(1, true, true);
  scene.reply.fields() += "X: 1\r\n";
  EXPECT_FALSE(run(scene.io, send(scene.reply, {200, {}, kBody})));
  scene.reply.begin(1, false, true);
  EXPECT_FALSE(run(scene.io, send(scene.reply, {200, 5, kBody})));
  EXPECT_EQ(scene.received(),
            "HTTP/1.1 200 X\r\nX: 1\r\n\r\nHTTP/1.1 200 X\r\n" + kSized + "\r\nabcde");
}

TEST(Reply, InterimHeadsAreForHttp11Alone) {
  for (const int minor : {0, 1}) {
    ReplyScene scene;
    scene.reply.begin(minor, false, false);
    EXPECT_FALSE(run(scene.io, scene.reply.interim("HTTP/1.1 103 X\r\n\r\n")));
    EXPECT_EQ(scene.received(), minor == 0 ? "" : "HTTP/1.1 103 X\r\n\r\n");
  }
}

TEST(Reply, PiecesOfAFillGoOutAsOneChunk) {
  ReplyScene scene;
  cache::Budget budget(1000);
  scene.reply.begin(1, false, true);
  EXPECT_FALSE(run(scene.io, scene.reply.start("", 200, {})));
  const Pieces pieces{{block_of(budget, "xab"), 1, 2}, {block_of(budget, "cde"), 0, 3}};
  EXPECT_FALSE(run(scene.io, scene.reply.body(pieces)));
  EXPECT_EQ(scene.received(), "Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n");
}

TEST(Reply, AfterAFailedWriteNothingFollows) {
  ReplyScene scene;
  Reply hasty{scene.stream, 1ms};
  hasty.begin(1, false, true);
  const std::string more_than_fits(32 << 20, 'x');
  EXPECT_EQ(run(scene.io, hasty.interim(more_than_fits)), asio::error::timed_out);
  EXPECT_EQ(run(scene.io, send(hasty, {200, 5, kBody})), asio::error::timed_out);
  EXPECT_FALSE(hasty.finished());
  EXPECT_FALSE(hasty.may_go_on());
}

}  // namespace
}  // namespace proxy
