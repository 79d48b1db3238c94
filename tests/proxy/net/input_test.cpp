#include "proxy/net/input.hpp"

#include <gtest/gtest.h>

#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <optional>
#include <string>

#include "tests/proxy/net/one_connection.hpp"

namespace proxy::net {
namespace {

namespace asio = net::asio;
using namespace std::chrono_literals;
using boost::beast::http::error;
using http::Framing;
using support::run;

struct InputScene : OneConnection {
  void send(std::string_view text) { asio::write(far, asio::buffer(text)); }
  void end() { far.shutdown(net::tcp::socket::shutdown_send); }
  void arrive() {
    EXPECT_TRUE(run(io, stream.readable()));
    EXPECT_EQ(input.arrive(), net::error_code{});
  }
  net::Result<std::string_view> head(std::size_t limit = 1000) {
    return run(io, input.head(limit));
  }
};

TEST(BufferPool, HandsOutWhatWasGivenBack) {
  BufferPool pool;
  auto buffer = pool.take();
  const auto* const same = buffer.get();
  pool.give_back(std::move(buffer));
  EXPECT_EQ(pool.take().get(), same);
}

TEST(InputHead, ComesWholeAndUnconsumedHoweverItIsSplit) {
  InputScene scene;
  scene.send("GET / HT");
  EXPECT_TRUE(run(scene.io, scene.input.fill(1000)));
  scene.send("TP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\nrest");
  const auto first = scene.head();
  ASSERT_TRUE(first);
  EXPECT_EQ(*first, "GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(scene.head().value(), *first);
  scene.input.consume(first->size());
  EXPECT_EQ(scene.head().value(), "GET /2 HTTP/1.1\r\n\r\n");
}

TEST(InputHead, MayBeAsLongAsTheLimitAndNoLonger) {
  const std::string longest = std::string(39'996, 'x') + "\r\n\r\n";
  for (const std::size_t limit : {40'000U, 39'999U}) {
    InputScene scene;
    scene.send(longest);
    const auto head = scene.head(limit);
    ASSERT_EQ(head.has_value(), limit == longest.size());
    const auto why = head ? std::nullopt : http::head_error_of(head.error());
    EXPECT_TRUE(head || why == http::HeadError::too_large);
  }
}

TEST(InputHead, TellsAnEndBetweenMessagesFromOneWithin) {
  InputScene scene;
  scene.send("GET /");
  scene.end();
  EXPECT_EQ(scene.head().error(), error::partial_message);
  scene.input.consume(5);
  EXPECT_EQ(scene.head().error(), asio::error::eof);
}

TEST(Input, TakesWhatArrivesIntoASmallBuffer) {
  InputScene scene;
  scene.send("x");
  EXPECT_TRUE(run(scene.io, scene.input.fill(100)));
  const auto* const buffer = scene.input.buffered().data();
  scene.input.consume(1);
  scene.send("y");
  scene.arrive();
  EXPECT_EQ(scene.input.buffered(), "y");
  EXPECT_EQ(scene.input.memory(), BufferPool::kSmall);
  EXPECT_EQ(scene.pool.take().get(), buffer);
}

TEST(Input, GoesOnInALargerBufferIfMoreArrivesThanTheSmallOneHolds) {
  for (const std::size_t size :
       {BufferPool::kSmall - 1, BufferPool::kSmall, BufferPool::kSmall + 1, 40'000UL}) {
    InputScene scene;
    const std::string head = std::string(size - 4, 'x') + "\r\n\r\n";
    scene.send(head);
    scene.arrive();
    const auto arrived = scene.head(size);
    ASSERT_TRUE(arrived) << size;
    EXPECT_EQ(*arrived, head);
    EXPECT_EQ(scene.input.memory() == BufferPool::kSmall, size <= BufferPool::kSmall);
    scene.input.consume(size);
    scene.send("next");
    scene.arrive();
    EXPECT_EQ(scene.input.buffered(), "next");
  }
}

TEST(Input, ReadsABodyIntoALargeBufferThoughItsHeadCameIntoTheSmallOne) {
  InputScene scene;
  scene.send("head");
  scene.arrive();
  scene.input.consume(4);
  const std::string chunk(10'000, 'x');
  scene.send(chunk);
  EXPECT_EQ(run(scene.io, scene.input.fill(BufferPool::kSize)).value(), chunk.size());
}

TEST(Input, HasNoBufferUntilBytesArrive) {
  InputScene scene;
  EXPECT_FALSE(scene.input.arrive());
  EXPECT_EQ(scene.input.memory(), 0U);
  scene.send("x");
  scene.arrive();
  scene.input.release_if_empty();
  EXPECT_EQ(scene.input.buffered(), "x");
  EXPECT_EQ(scene.input.arrive(), net::error_code{}) << "it has bytes already";
  EXPECT_EQ(scene.input.buffered(), "x");
  scene.input.consume(1);
  scene.input.release_if_empty();
  EXPECT_EQ(scene.input.memory(), 0U);
  scene.end();
  EXPECT_TRUE(run(scene.io, scene.stream.readable()));
  EXPECT_EQ(scene.input.arrive(), asio::error::eof);
}

TEST(Input, TellsWhetherAWholeHeadFollows) {
  const std::string head = "GET / HTTP/1.1\r\n\r\n";
  struct Case {
    std::string arrived;
    bool follows;
  };
  for (const auto& [arrived, follows] : {Case{head, false}, Case{head + "GET /", false},
                                         Case{head + head, true}, Case{head + "\r\n", false}}) {
    InputScene scene;
    scene.send(arrived);
    scene.arrive();
    EXPECT_EQ(scene.input.has_head_after(head.size()), follows) << arrived;
    EXPECT_EQ(scene.input.buffered(), arrived);
  }
}

// The small buffer takes a part of the second head, and the rest is there to be read.
TEST(Input, ReadsTheRestOfTheHeadThatFollowsIfTheBufferWasFull) {
  for (const bool whole : {true, false}) {
    InputScene scene;
    const std::string first = std::string(BufferPool::kSmall - 14, 'x') + "\r\n\r\n";
    const std::string second = "GET / HTTP/1.1\r\n\r\n";
    scene.send(first + (whole ? second : second.substr(0, 15)));
    scene.arrive();
    EXPECT_EQ(scene.input.has_head_after(first.size()), whole);
    EXPECT_TRUE(scene.input.buffered().starts_with(first));
    EXPECT_EQ(scene.input.buffered().size(), first.size() + (whole ? second.size() : 15));
  }
}

net::Task<net::Result<std::string>> read_body(BodyReader& body, std::size_t step) {
  std::string all;
  std::string part(step, '\0');
  for (;;) {
    const auto n = co_await body.read(asio::buffer(part), 10s);
    if (!n) co_return n.error();
    if (*n == 0) co_return all;
    all.append(part, 0, *n);
  }
}

struct Body {
  const char* name;
  Framing framing;
  std::string sent;
  std::string body;
  std::string rest;  // left for the next message
};
class BodyReaderTest : public testing::TestWithParam<Body> {};

TEST_P(BodyReaderTest, ReadsToTheEndThatItsFramingSaysAndNoFurther) {
  for (const std::size_t step : {1U, 3U, 1000U}) {
    InputScene scene;
    scene.send(GetParam().sent);
    scene.end();
    // Some of it has come with the head.
    EXPECT_TRUE(GetParam().framing.kind == Framing::Kind::none ||
                run(scene.io, scene.input.fill(100)));
    BodyReader body(scene.input, GetParam().framing);
    const auto read = run(scene.io, read_body(body, step));
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(*read, GetParam().body);
    EXPECT_TRUE(body.finished());
    EXPECT_EQ(scene.input.buffered(), GetParam().rest);
  }
}

const std::string kChunked = "4;ext=1\r\nabcd\r\n3\r\nefg\r\n0\r\nTrailer: x\r\n\r\n";

INSTANTIATE_TEST_SUITE_P(
    Framings, BodyReaderTest,
    testing::Values(
        Body{"None", {Framing::Kind::none, 0}, "", "", ""},
        Body{"Empty", {Framing::Kind::sized, 0}, "next", "", "next"},
        Body{"Sized", {Framing::Kind::sized, 7}, "abcdefgnext", "abcdefg", "next"},
        Body{"Chunked", {Framing::Kind::chunked, 0}, kChunked + "next", "abcdefg", "next"},
        Body{"UntilClose", {Framing::Kind::until_close, 0}, "abcdefg", "abcdefg", ""}),
    [](const auto& tested) { return tested.param.name; });

struct Damage {
  const char* name;
  Framing::Kind kind;
  std::string sent;
  error expected;
};
class BodyReaderDamage : public testing::TestWithParam<Damage> {};

TEST_P(BodyReaderDamage, IsAnErrorNeverAnEnd) {
  InputScene scene;
  scene.send(GetParam().sent);
  scene.end();
  BodyReader body(scene.input, {GetParam().kind, 7});
  EXPECT_EQ(run(scene.io, read_body(body, 100)).error(), GetParam().expected);
  EXPECT_FALSE(body.finished());
}

INSTANTIATE_TEST_SUITE_P(
    Bodies, BodyReaderDamage,
    testing::Values(
        Damage{"CutSized", Framing::Kind::sized, "abcdef", error::partial_message},
        Damage{"CutInAChunk", Framing::Kind::chunked, "4\r\nabc", error::partial_message},
        Damage{"CutBetweenChunks", Framing::Kind::chunked, "3\r\nabc\r\n", error::partial_message},
        Damage{"CutInTheTrailers", Framing::Kind::chunked, "0\r\nA: b\r\n", error::partial_message},
        Damage{"BadSize", Framing::Kind::chunked, "x\r\nabc\r\n", error::bad_chunk},
        Damage{"LongerThanItsSize", Framing::Kind::chunked, "2\r\nabc\r\n", error::bad_chunk}),
    [](const auto& tested) { return tested.param.name; });

TEST(BodyReader, AResetIsNoEndEvenWhereTheEndOfTheConnectionIs) {
  InputScene scene;
  scene.send("abc");
  scene.far.set_option(asio::socket_base::linger(true, 0));
  EXPECT_TRUE(run(scene.io, scene.input.fill(100)));
  scene.far.close();
  BodyReader body(scene.input, {Framing::Kind::until_close, 0});
  EXPECT_EQ(run(scene.io, read_body(body, 100)).error(), asio::error::connection_reset);
  EXPECT_FALSE(body.finished());
}

TEST(BodyReader, GivesABodyThatHasComeWithoutACopy) {
  struct Case {
    Framing framing;
    std::optional<std::string_view> whole;
  };
  for (const auto& [framing, whole] :
       {Case{{Framing::Kind::sized, 4}, "abcd"}, Case{{Framing::Kind::sized, 3}, std::nullopt},
        Case{{Framing::Kind::sized, 0}, std::nullopt}, Case{{Framing::Kind::none, 0}, std::nullopt},
        Case{{Framing::Kind::sized, 5}, std::nullopt},
        Case{{Framing::Kind::chunked, 0}, std::nullopt},
        Case{{Framing::Kind::until_close, 0}, std::nullopt}}) {
    InputScene scene;
    scene.send("abcd");
    EXPECT_TRUE(run(scene.io, scene.input.fill(100)));
    BodyReader body(scene.input, framing);
    const auto* const place = scene.input.buffered().data();
    const auto given = body.whole();
    ASSERT_EQ(given.has_value(), whole.has_value());
    EXPECT_EQ(scene.input.buffered(), given ? "" : "abcd");
    if (!given) continue;
    EXPECT_TRUE(body.finished());
    EXPECT_EQ(given->view(), *whole);
    EXPECT_EQ(given->view().data(), place);
    EXPECT_EQ(given->memory(), BufferPool::kSize);
  }
}

TEST(BodyReader, GivesAnEmptyBodyAsTheWhole) {
  for (const auto kind : {Framing::Kind::sized, Framing::Kind::none}) {
    InputScene scene;
    BodyReader body(scene.input, {kind, 0});
    const auto given = body.whole();
    ASSERT_TRUE(given);
    EXPECT_EQ(given->view(), "");
    EXPECT_TRUE(body.finished());
  }
}

TEST(BodyReader, GivesABufferThatReturnsToThePool) {
  InputScene scene;
  scene.send("abcd");
  EXPECT_TRUE(run(scene.io, scene.input.fill(100)));
  const auto* const buffer = scene.input.buffered().data();
  BodyReader(scene.input, {Framing::Kind::sized, 4}).whole();
  EXPECT_EQ(scene.input.memory(), 0U);
  EXPECT_EQ(scene.pool.take().get(), buffer);
}

TEST(BodyReader, GivesNoRestAsTheWhole) {
  InputScene scene;
  scene.send("abcd");
  EXPECT_TRUE(run(scene.io, scene.input.fill(100)));
  BodyReader body(scene.input, {Framing::Kind::sized, 4});
  char first = 0;
  EXPECT_EQ(body.at_hand(asio::buffer(&first, 1)), 1U);
  EXPECT_FALSE(body.whole());
  EXPECT_EQ(scene.input.buffered(), "bcd");
}

net::Task<net::Result<std::size_t>> read_once(BodyReader& body) {
  char byte = 0;
  co_return co_await body.read(asio::buffer(&byte, 1), 1ms);
}

TEST(BodyReader, WaitsNoLongerThanItIsTold) {
  InputScene scene;
  BodyReader body(scene.input, {Framing::Kind::sized, 7});
  EXPECT_EQ(run(scene.io, read_once(body)).error(), asio::error::timed_out);
}

}  // namespace
}  // namespace proxy::net
