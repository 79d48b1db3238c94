#include "tests/support/strict_reading.hpp"

#include <gtest/gtest.h>

namespace support::strict {
namespace {

const std::string kHead = "GET http://a.test/x HTTP/1.1\r\nHost: a.test\r\n\r\n";

TEST(StrictReading, TellsWhichBytesFollowTheWholeRequests) {
  const auto bytes = kHead + kHead + "GET /half";
  const auto requests = read_requests(bytes);
  EXPECT_EQ(requests.whole.size(), 2U);
  EXPECT_EQ(requests.end, End::cut);
  EXPECT_EQ(requests.rest, "GET /half");
  EXPECT_EQ(read_requests(kHead).rest, "");
}

// Of the stack's bytes, too.
TEST(StrictReading, TakesLinesOfAnyLength) {
  const std::string line(4 << 20, 'x');
  EXPECT_EQ(read_requests("GET /" + line + " HTTP/1.1\r\nHost: a\r\n\r\n").whole.size(), 1U);
  const auto answer =
      read_answer("HTTP/1.1 200 " + line + "\r\nTransfer-Encoding: chunked\r\n\r\n3;" + line +
                  "\r\nabc\r\n0\r\n\r\n");
  EXPECT_EQ(answer.end, End::whole) << answer.fault.substr(0, 200);
  EXPECT_EQ(answer.message.body, "abc");
}

TEST(StrictReading, TellsWhatAProxyMends) {
  const std::string body = "Content-Length: 3\r\n\r\nabc";
  const std::pair<std::string, bool> cases[] = {
      {"HTTP/1.1 200 OK\r\n", false},
      {"ICY 200 OK\r\n", false},
      {"HTTP/1.1 103 X\r\n\r\nHTTP/1.1 200 OK\r\n", false},
      {"HTTP/1.1 103 X\r\nContent-Length: 9\r\n\r\nHTTP/1.1 200 OK\r\n", true},
      {"HTTP/1.1 200 OK\r\nX : y\r\n", true}};
  for (const auto& [head, odd] : cases) {
    const auto answer = read_answer(head + body);
    EXPECT_EQ(answer.end, End::whole) << head << answer.fault;
    EXPECT_EQ(answer.odd, odd) << head;
    EXPECT_EQ(answer.message.body, "abc") << head;
  }
  for (const char* head : {"HTTP/1.1 200 OK\r\nConnection : close\r\n", "ICY 100 X\r\n"}) {
    EXPECT_EQ(read_answer(head + body).end, End::malformed) << head;
  }
}

TEST(StrictReading, KnowsSizesOfChunksAndNothingElse) {
  const auto body_of = [](const std::string& size) {
    return read_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + size +
                       "\r\nabc\r\n0\r\n\r\n");
  };
  for (const char* size : {"3", "003", "3;a=b", "3 \t;a"}) {
    EXPECT_EQ(body_of(size).end, End::whole) << size;
  }
  for (const char* size : {"", "3 ", "0x3", "+3", " 3", "3a;", "3g", "0000000000000003"}) {
    EXPECT_NE(body_of(size).end, End::whole) << size;
  }
}

}  // namespace
}  // namespace support::strict
