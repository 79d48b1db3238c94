#include "proxy/server/http1_response.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <boost/asio/read.hpp>
#include <string>
#include <vector>

#include "tests/proxy/fill/fill_scene.hpp"
#include "tests/proxy/net/tls_ends.hpp"
#include "tests/proxy/server/response_scene.hpp"
#include "tests/support/loopback.hpp"

namespace proxy::server {
namespace {

namespace asio = net::asio;
using namespace std::chrono_literals;
using support::run;

struct Sent {
  unsigned status = 200;
  std::optional<std::uint64_t> length;
  std::vector<std::string> parts;  // of the body; the first goes with the head
};

net::Task<net::error_code> send(Http1Response& writer, Sent sent) {
  const std::string head = "HTTP/1.1 " + std::to_string(sent.status) + " X\r\n";
  const auto first = asio::const_buffer(sent.parts[0].data(), sent.parts[0].size());
  auto error = co_await writer.start(head, sent.status, sent.length, {&first, 1});
  for (std::size_t i = 1; i < sent.parts.size() && !error; ++i) {
    error = co_await writer.body(asio::buffer(sent.parts[i]));
  }
  if (!error) error = co_await writer.finish();
  co_return error;
}

struct ResponseCase {
  const char* name;
  int minor;
  bool head_only;
  bool wants_more;
  Sent response;
  std::string sent;  // after the status line
  bool goes_on;
};
class Http1Framing : public testing::TestWithParam<ResponseCase> {};

TEST_P(Http1Framing, LetsTheClientTellWhetherItGotAll) {
  const auto& tested = GetParam();
  ResponseScene scene;
  scene.response.begin({tested.minor, tested.head_only, tested.wants_more});
  EXPECT_FALSE(run(scene.io, send(scene.response, tested.response)));
  EXPECT_TRUE(scene.state.finished);
  EXPECT_EQ(scene.response.may_go_on(), tested.goes_on);
  const auto sent = "HTTP/1.1 " + std::to_string(tested.response.status) + " X\r\n" + tested.sent;
  EXPECT_EQ(scene.received(), sent);
  EXPECT_EQ(scene.record.bytes, sent.size());
  EXPECT_EQ(scene.record.status, tested.response.status);
}

const std::string kClose = "Connection: close\r\n\r\n";
const std::string kSized = "Content-Length: 5\r\n";
const std::string kChunks = "2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n";
const std::vector<std::string> kBody{"ab", "", "cde"};

INSTANTIATE_TEST_SUITE_P(
    Responses, Http1Framing,
    testing::Values(
        ResponseCase{"Sized", 1, false, true, {200, 5, kBody}, kSized + "\r\nabcde", true},
        ResponseCase{
            "SizedAndLast", 1, false, false, {200, 5, kBody}, kSized + kClose + "abcde", false},
        ResponseCase{"Empty", 1, false, true, {200, 0, {""}}, "Content-Length: 0\r\n\r\n", true},
        ResponseCase{"UnknownLengthIsChunked_Rfc9112_6_1",
                     1,
                     false,
                     true,
                     {200, {}, kBody},
                     "Transfer-Encoding: chunked\r\n\r\n" + kChunks,
                     true},
        ResponseCase{"UnknownLengthAndEmpty",
                     1,
                     false,
                     true,
                     {200, {}, {""}},
                     "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                     true},
        ResponseCase{"Http10Sized",
                     0,
                     false,
                     true,
                     {200, 5, kBody},
                     kSized + "Connection: keep-alive\r\n\r\nabcde",
                     true},
        ResponseCase{"Http10UnknownLengthEndsWithTheConnection_Rfc9112_6_3",
                     0,
                     false,
                     true,
                     {200, {}, kBody},
                     kClose + "abcde",
                     false},
        ResponseCase{"HeadHasTheLengthAlone_Rfc9110_9_3_2",
                     1,
                     true,
                     true,
                     {200, 5, kBody},
                     kSized + "\r\n",
                     true},
        ResponseCase{"HeadOfUnknownLength", 1, true, true, {200, {}, kBody}, "\r\n", true},
        ResponseCase{"Http10HeadOfUnknownLengthMayGoOn",
                     0,
                     true,
                     true,
                     {200, {}, kBody},
                     "Connection: keep-alive\r\n\r\n",
                     true},
        ResponseCase{
            "NoContentHasNoLength_Rfc9110_8_6", 1, false, true, {204, 0, {""}}, "\r\n", true},
        ResponseCase{"NoContentNeverHasABody", 1, false, true, {204, {}, kBody}, "\r\n", true},
        ResponseCase{"NotModifiedNeverHasABody", 1, false, true, {304, 5, kBody}, "\r\n", true},
        ResponseCase{"Http10NotModifiedMayGoOn",
                     0,
                     false,
                     true,
                     {304, {}, {""}},
                     "Connection: keep-alive\r\n\r\n",
                     true}),
    [](const auto& tested) { return tested.param.name; });

TEST(Http1Response, ABodyShorterThanPromisedIsNeverFinished) {
  ResponseScene scene;
  scene.response.begin({1, false, true});
  EXPECT_TRUE(run(scene.io, send(scene.response, {200, 6, kBody})));
  EXPECT_FALSE(scene.state.finished);
  EXPECT_FALSE(scene.response.may_go_on());
}

TEST(Http1Response, NothingGoesBeyondThePromisedLength) {
  ResponseScene scene;
  scene.response.begin({1, false, true});
  EXPECT_TRUE(run(scene.io, send(scene.response, {200, 4, kBody})));
  EXPECT_FALSE(scene.response.may_go_on());
  EXPECT_EQ(scene.received(), "HTTP/1.1 200 X\r\nContent-Length: 4\r\n\r\nab");
}

bool resets_on_close(net::Stream& stream) {
  ::linger set{};
  socklen_t size = sizeof set;
  ::getsockopt(stream.descriptor(), SOL_SOCKET, SO_LINGER, &set, &size);
  return set.l_onoff == 1 && set.l_linger == 0;
}

// The kernel would send the file's bytes without TLS.
TEST(Http1Response, SendsNoFileOverTlsAndTheBytesWhole) {
  net::TlsEnds ends;
  net::BufferPool buffers;
  net::Input input{*ends.near, buffers};
  observe::RequestRecord record;
  cache::Budget transit{1 << 20};
  machine::Clock clock;
  Http1Response response{*ends.near, input, record, {buffers, transit, clock, 10s}};
  response.begin({1, false, true});
  EXPECT_FALSE(response.sends_files());
  std::string body;
  for (int i = 0; body.size() < 100'000; ++i) body += std::to_string(i) + ' ';
  net::spawn(ends.io.get_executor(), send(response, {200, body.size(), {body}}));
  std::string got;
  std::string chunk(65536, '\0');
  while (got.size() < body.size() || !got.ends_with(body)) {
    const auto n = run(ends.io, ends.far->read_some(asio::buffer(chunk)));
    ASSERT_TRUE(n) << n.error().message();
    got.append(chunk, 0, *n);
    ASSERT_LT(got.size(), body.size() + 1000);
  }
  EXPECT_TRUE(got.starts_with("HTTP/1.1 200 X\r\n"));
}

TEST(Http1Response, SendsAFileWhereTheResponseHasABody) {
  ResponseScene scene;
  scene.response.begin({1, false, true});
  EXPECT_TRUE(scene.response.sends_files());
  scene.response.begin({1, true, true});
  EXPECT_FALSE(scene.response.sends_files()) << "HEAD";
}

TEST(Http1Response, ACutThatTheEndOfTheConnectionWouldHideCanBeTold) {
  for (const bool sized : {false, true}) {
    ResponseScene scene;
    scene.response.begin({0, false, true});
    const std::string part = "half";
    const auto first = asio::const_buffer(part.data(), part.size());
    const auto length = sized ? std::optional<std::uint64_t>(8) : std::nullopt;
    EXPECT_FALSE(
        run(scene.io, scene.response.start("HTTP/1.1 200 X\r\n", 200, length, {&first, 1})));
    EXPECT_FALSE(resets_on_close(scene.stream));
    scene.response.abort();
    EXPECT_EQ(resets_on_close(scene.stream), !sized);
    EXPECT_FALSE(scene.response.may_go_on());
  }
}

TEST(Http1Response, NothingFollowsAnAbort) {
  ResponseScene scene;
  scene.response.begin({1, false, true});
  EXPECT_FALSE(run(scene.io, scene.response.start("", 200, 8)));
  scene.response.abort();
  EXPECT_TRUE(run(scene.io, scene.response.body(asio::buffer("abcdefgh", 8))));
  EXPECT_TRUE(run(scene.io, scene.response.finish()));
  EXPECT_FALSE(scene.state.finished);
  EXPECT_EQ(scene.received(), "Content-Length: 8\r\n\r\n");
}

TEST(Http1Response, AnAbortFailsAPendingWrite) {
  ResponseScene scene;
  scene.response.begin({1, false, true});
  const std::string more_than_fits(32 << 20, 'x');
  asio::post(scene.io, [&] { scene.response.abort(); });
  EXPECT_TRUE(run(scene.io, scene.response.interim(more_than_fits)));
}

TEST(Http1Response, ALastChunkEndsABodyOfUnknownLength) {
  for (const bool chunked : {true, false}) {
    ResponseScene scene;
    scene.response.begin({1, false, true});
    const auto length = chunked ? std::nullopt : std::optional<std::uint64_t>(0);
    EXPECT_FALSE(run(scene.io, scene.response.start("", 200, length)));
    EXPECT_FALSE(run(scene.io, scene.response.finish()));
    EXPECT_TRUE(scene.response.may_go_on());
    EXPECT_EQ(scene.received(), chunked ? "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
                                        : "Content-Length: 0\r\n\r\n");
  }
}

TEST(Http1Response, EachResponseIsFramedByItself) {
  ResponseScene scene;
  scene.response.begin({1, true, true});
  scene.state.fields += "X: 1\r\n";
  EXPECT_FALSE(run(scene.io, send(scene.response, {200, {}, kBody})));
  scene.response.begin({1, false, true});
  EXPECT_FALSE(run(scene.io, send(scene.response, {200, 5, kBody})));
  EXPECT_EQ(scene.received(),
            "HTTP/1.1 200 X\r\nX: 1\r\n\r\nHTTP/1.1 200 X\r\n" + kSized + "\r\nabcde");
}

TEST(Http1Response, InterimHeadsAreForHttp11Alone) {
  for (const int minor : {0, 1}) {
    ResponseScene scene;
    scene.response.begin({minor, false, false});
    EXPECT_FALSE(run(scene.io, scene.response.interim("HTTP/1.1 103 X\r\n\r\n")));
    EXPECT_EQ(scene.received(), minor == 0 ? "" : "HTTP/1.1 103 X\r\n\r\n");
  }
}

TEST(Http1Response, BuffersGoOutAsOneChunk) {
  ResponseScene scene;
  scene.response.begin({1, false, true});
  EXPECT_FALSE(run(scene.io, scene.response.start("", 200, {})));
  const asio::const_buffer pieces[]{asio::buffer("ab", 2), asio::buffer("cde", 3)};
  EXPECT_FALSE(run(scene.io, scene.response.body(std::span(pieces))));
  EXPECT_EQ(scene.received(), "Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n");
}

// A scene in which the next request is here.
struct PipelineScene : ResponseScene {
  // Sends a response of this body, and returns whether bytes were held back after it.
  bool sends(const Sent& sent, bool at_once = true, int minor = 1, bool goes_on = true) {
    response.begin({minor, false, goes_on, Http1Response::Next::is_here});
    state.may_be_held_back = at_once;
    EXPECT_FALSE(run(io, send(response, sent)));
    EXPECT_TRUE(state.finished);
    return response.holds_back();
  }
  // What the client can read by now.
  std::string arrived() {
    std::string bytes(client.available(), '\0');
    if (!bytes.empty()) asio::read(client, asio::buffer(bytes));
    return bytes;
  }
  static std::string text(std::string_view body) {
    return "HTTP/1.1 200 X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           std::string(body);
  }
};

TEST(Http1Pipeline, HoldsBackAResponseThatComesAtOnceUntilTheNextOne) {
  PipelineScene scene;
  EXPECT_TRUE(scene.sends({200, 5, {"first"}}));
  EXPECT_TRUE(scene.sends({200, 6, {"second"}}));
  EXPECT_EQ(scene.record.bytes, scene.text("first").size() + scene.text("second").size());
  EXPECT_EQ(scene.arrived(), "");
  EXPECT_FALSE(scene.sends({200, 5, {"third"}}, false));
  EXPECT_EQ(scene.arrived(), scene.text("first") + scene.text("second") + scene.text("third"));
}

TEST(Http1Pipeline, SendsWhatItHoldsBackOnRequest) {
  PipelineScene scene;
  EXPECT_TRUE(scene.sends({200, 5, {"first"}}));
  EXPECT_FALSE(run(scene.io, scene.response.flush()));
  EXPECT_FALSE(scene.response.holds_back());
  EXPECT_EQ(scene.arrived(), scene.text("first"));
  EXPECT_FALSE(run(scene.io, scene.response.flush()));
  EXPECT_EQ(scene.arrived(), "");
}

TEST(Http1Pipeline, HoldsBackNothingThatIsNotWhole) {
  PipelineScene scene;
  EXPECT_FALSE(scene.sends({200, {}, {"chunked"}}));
  EXPECT_FALSE(scene.sends({200, 5, {"ab", "cde"}}));
}

TEST(Http1Pipeline, HoldsBackNothingBeforeTheConnectionCloses) {
  PipelineScene scene;
  EXPECT_FALSE(scene.sends({200, 5, {"first"}}, true, 1, false));
}

TEST(Http1Pipeline, HoldsBackNothingIfTheNextRequestIsNotHere) {
  ResponseScene scene;
  scene.response.begin({1, false, true});
  scene.state.may_be_held_back = true;
  EXPECT_FALSE(run(scene.io, send(scene.response, {200, 5, {"first"}})));
  EXPECT_FALSE(scene.response.holds_back());
}

TEST(Http1Pipeline, HoldsBackResponsesWithoutABody) {
  PipelineScene scene;
  EXPECT_TRUE(scene.sends({304, 5, {"none"}}));
  EXPECT_TRUE(scene.sends({200, 5, {"first"}}));
  EXPECT_FALSE(run(scene.io, scene.response.flush()));
  EXPECT_EQ(scene.arrived(), "HTTP/1.1 304 X\r\n\r\n" + scene.text("first"));
}

TEST(Http1Pipeline, HoldsBackNoMoreThanItsBuffer) {
  PipelineScene scene;
  const std::string half(HeldBytes::kMost / 2, 'x');
  const auto size = half.size();
  EXPECT_TRUE(scene.sends({200, size, {half}}));
  EXPECT_EQ(scene.transit.used(), HeldBytes::kMost);
  EXPECT_FALSE(scene.sends({200, size, {half}}));
  EXPECT_EQ(scene.transit.used(), 0U);
  EXPECT_EQ(scene.arrived(), scene.text(half) + scene.text(half));
}

TEST(Http1Pipeline, SendsWhatItHoldsBackBeforeAnInterimHead) {
  PipelineScene scene;
  EXPECT_TRUE(scene.sends({200, 5, {"first"}}));
  scene.response.begin({1, false, true});
  EXPECT_FALSE(run(scene.io, scene.response.interim(client::kContinue)));
  EXPECT_EQ(scene.arrived(), scene.text("first") + std::string(client::kContinue));
}

// The client does not read: the bytes held back count as what a cut of the response frees.
TEST(Http1Pipeline, TellsWhatItHoldsForAClientThatDoesNotRead) {
  PipelineScene scene;
  EXPECT_TRUE(scene.sends({200, 5, {"first"}}));
  const auto unread = scene.unread_by_the_client();
  EXPECT_EQ(unread.bytes, scene.text("first").size() + ResponseScene::kMoreThanFits);
  EXPECT_EQ(unread.freed, HeldBytes::kMost);
  EXPECT_FALSE(scene.response.holds_back());
  EXPECT_EQ(scene.transit.used(), 0U);
}

TEST(Http1Response, TellsWhatItsCallerHoldsForAClientThatDoesNotRead) {
  ResponseScene scene;
  scene.response.begin({1, false, true});
  {
    const client::ResponseState::Holds holds(scene.state, scene.transit, 5000);
    EXPECT_EQ(scene.transit.used(), 5000U);
    EXPECT_EQ(scene.unread_by_the_client().freed, 5000U);
  }
  EXPECT_EQ(scene.transit.used(), 0U);
}

TEST(Http1Response, AfterAFailedWriteNothingFollows) {
  ResponseScene scene;
  Http1Response hasty{
      scene.stream, scene.input, scene.record, {scene.pool, scene.transit, scene.clock, 1ms}};
  hasty.begin({1, false, true});
  const std::string more_than_fits(32 << 20, 'x');
  EXPECT_EQ(run(scene.io, hasty.interim(more_than_fits)), asio::error::timed_out);
  EXPECT_EQ(run(scene.io, send(hasty, {200, 5, kBody})), asio::error::timed_out);
  EXPECT_FALSE(hasty.state().finished);
  EXPECT_FALSE(hasty.may_go_on());
}

}  // namespace
}  // namespace proxy::server
