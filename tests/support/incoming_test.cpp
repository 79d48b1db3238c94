// What the clients and origins of the scenarios accept, refuse and tell apart.
#include "tests/support/incoming.hpp"

#include <gtest/gtest.h>

namespace support {
namespace {

// Bytes of a test, and what Incoming reads from them.
template <class Message>
struct Wire {
  explicit Wire(std::string_view bytes) { far.write(bytes); }

  void close() { far.finish_writing(); }
  std::string body() {
    std::string all;
    for (auto piece = incoming.body_piece(); !piece.empty(); piece = incoming.body_piece()) {
      all += piece;
    }
    return all;
  }

  Listener listener;
  Socket far = Socket::connect(listener.port());
  Socket near = std::move(*listener.accept());
  Incoming<Message> incoming{near};
};

const std::string kOk = "HTTP/1.1 200 OK\r\n";

TEST(Incoming, ReadsPipelinedRequestsAndTheirBodies) {
  Wire<Request> wire(
      "POST http://a.test/a?b HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\n\r\nbody"
      "PUT /b HTTP/1.1\r\nhost:  b.test \r\nTransfer-Encoding: chunked\r\n\r\n"
      "1;x=y\r\na\r\n2\r\nbc\r\n0\r\nX: z\r\n\r\n"
      "GET /c HTTP/1.0\r\n\r\n");
  const auto first = wire.incoming.head();
  EXPECT_EQ(first->start_line, "POST http://a.test/a?b HTTP/1.1");
  EXPECT_EQ(first->method, "POST");
  EXPECT_EQ(first->target, "http://a.test/a?b");
  EXPECT_EQ(first->path, "/a?b");
  EXPECT_EQ(wire.body(), "body");
  EXPECT_TRUE(wire.incoming.body_whole());
  const auto second = wire.incoming.head();
  EXPECT_EQ(second->field("Host"), "b.test");
  EXPECT_EQ(wire.body(), "abc");
  EXPECT_TRUE(wire.incoming.body_whole());
  EXPECT_FALSE(second->has("X"));  // a trailer
  EXPECT_EQ(wire.incoming.head()->path, "/c");
  EXPECT_TRUE(wire.incoming.body_whole());
  wire.close();
  EXPECT_FALSE(wire.incoming.head());
}

TEST(Incoming, KeepsEachFieldLineInItsCase) {
  Wire<Response> wire(kOk + "Via: 1.1 a\r\nX-y: z\r\nvia: 1.1 b\r\nContent-Length: 0\r\n\r\n");
  const auto response = wire.incoming.head("GET");
  EXPECT_EQ(response->fields.size(), 4U);
  EXPECT_EQ(response->field("Via"), "1.1 a, 1.1 b");
  const auto second = std::pair<std::string, std::string>("via", "1.1 b");
  EXPECT_EQ(std::count(response->fields.begin(), response->fields.end(), second), 1);
}

TEST(Incoming, TellsACutBodyFromAWholeOne) {
  const std::string chunked = kOk + "Transfer-Encoding: chunked\r\n\r\n";
  for (const auto& text :
       {kOk + "Content-Length: 5\r\n\r\nabc", chunked + "3\r\nabc\r\n", chunked + "5\r\nabc",
        chunked + "3\r\nabc\r\n1", chunked + "3\r\nabc\r\n0\r\n"}) {
    Wire<Response> wire(text);
    wire.close();
    wire.incoming.head("GET");
    EXPECT_EQ(wire.body(), "abc");
    EXPECT_FALSE(wire.incoming.body_whole()) << text;
    EXPECT_EQ(wire.incoming.bytes(1), "") << "no byte is outside the message";
  }
}

TEST(Incoming, TellsACutHeadFromAMessage) {
  for (const std::string text : {"", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"}) {
    Wire<Response> wire(text);
    wire.close();
    EXPECT_FALSE(wire.incoming.head("GET")) << text;
  }
}

TEST(Incoming, EndsABodyWithoutALengthAtTheClose) {
  Wire<Response> wire(kOk + "\r\nabc");
  wire.close();
  wire.incoming.head("GET");
  EXPECT_EQ(wire.body(), "abc");
  EXPECT_TRUE(wire.incoming.body_whole());
}

TEST(Incoming, TakesAResetForACutBody) {
  Wire<Response> wire(kOk + "\r\nabc");
  wire.near.write("unread");
  wire.incoming.head("GET");
  EXPECT_EQ(wire.incoming.body_piece(), "abc");
  { const Socket closed = std::move(wire.far); }  // which has not read all, so that it resets
  EXPECT_EQ(wire.body(), "");
  EXPECT_FALSE(wire.incoming.body_whole());
}

TEST(Incoming, LeavesWhatFollowsAMessage) {
  Wire<Response> wire(kOk + "Content-Length: 3\r\n\r\nabcmore");
  wire.incoming.head("GET");
  EXPECT_EQ(wire.body(), "abc");
  EXPECT_EQ(wire.incoming.bytes(4), "more");
}

struct Bodiless {
  const char* method;
  const char* status;
};

class WithoutBody : public testing::TestWithParam<Bodiless> {};

TEST_P(WithoutBody, EndsWithItsHead) {
  Wire<Response> wire(std::string("HTTP/1.1 ") + GetParam().status +
                      " X\r\nContent-Length: 3\r\n\r\nHTTP/1.1 200 OK\r\n");
  wire.incoming.head(GetParam().method);
  EXPECT_TRUE(wire.incoming.body_whole());
  EXPECT_EQ(wire.body(), "");
  EXPECT_EQ(wire.incoming.bytes(8), "HTTP/1.1");
}

INSTANTIATE_TEST_SUITE_P(Responses, WithoutBody,
                         testing::Values(Bodiless{"HEAD", "200"}, Bodiless{"GET", "103"},
                                         Bodiless{"GET", "204"}, Bodiless{"GET", "304"},
                                         Bodiless{"CONNECT", "200"}));

struct Wrong {
  const char* name;
  std::string text;
};

class WrongResponse : public testing::TestWithParam<Wrong> {};

TEST_P(WrongResponse, IsMalformed) {
  Wire<Response> wire(GetParam().text);
  wire.close();
  EXPECT_THROW(wire.incoming.head("GET") ? wire.body() : "", Malformed);
}

Wrong with_fields(const char* name, const std::string& fields) {
  return {name, kOk + fields + "\r\nabc"};
}

Wrong with_chunks(const char* name, const std::string& chunks) {
  return {name, kOk + "Transfer-Encoding: chunked\r\n\r\n" + chunks};
}

INSTANTIATE_TEST_SUITE_P(
    Responses, WrongResponse,
    testing::Values(Wrong{"LfInTheStatusLine", "HTTP/1.1 200 OK\nContent-Length: 3\r\n\r\nabc"},
                    Wrong{"NoReason", "HTTP/1.1 200\r\nContent-Length: 3\r\n\r\nabc"},
                    Wrong{"AnotherVersion", "HTTP/2.0 200 OK\r\nContent-Length: 3\r\n\r\nabc"},
                    Wrong{"LongStatus", "HTTP/1.1 2000 OK\r\nContent-Length: 3\r\n\r\nabc"},
                    with_fields("LfInTheHead", "Content-Length: 3\nX: y\r\n"),
                    with_fields("FoldedLine", "X: y\r\n z\r\nContent-Length: 3\r\n"),
                    with_fields("SpaceBeforeTheColon", "Content-Length : 3\r\n"),
                    with_fields("NoColon", "X\r\nContent-Length: 3\r\n"),
                    with_fields("ControlCharacter", "X: \x01\r\nContent-Length: 3\r\n"),
                    with_fields("TwoLengths", "Content-Length: 3\r\nContent-Length: 2\r\n"),
                    with_fields("LengthIsNoNumber", "Content-Length: 3x\r\n"),
                    with_fields("LengthAndCoding",
                                "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"),
                    with_chunks("ChunkTooLong", "2\r\nabc\r\n0\r\n\r\n"),
                    with_chunks("ChunkTooShort", "4\r\nabc\r\n0\r\n\r\n"),
                    with_chunks("ChunkSizeIsNoNumber", "+3\r\nabc\r\n0\r\n\r\n"),
                    with_chunks("LfAfterTheSize", "3\nabc\r\n0\r\n\r\n")),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace support
