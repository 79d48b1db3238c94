// A malformed request gets a 4xx (or 5xx) with one line that says why and a closed connection;
// nothing of it, and nothing after it, reaches an origin.
#include <gtest/gtest.h>

#include "tests/scenario/scene.hpp"

namespace scenario {
namespace {

struct Malformed {
  const char* name;
  std::string text;  // ORIGIN stands for the authority of the origin
  int status = 400;
};

void PrintTo(const Malformed& test, std::ostream* out) {
  *out << test.name;
}

std::string get(const std::string& fields) {
  return "GET http://ORIGIN/a HTTP/1.1\r\nHost: ORIGIN\r\n" + fields + "\r\n";
}

std::string post(const std::string& framing, const std::string& body) {
  return "POST http://ORIGIN/a HTTP/1.1\r\nHost: ORIGIN\r\n" + framing + "\r\n" + body;
}

const Malformed kRequests[] = {
    {"Nonsense", "\x16\x03\x01\x02\r\n\r\n"},
    {"NoVersion", "GET http://ORIGIN/a\r\nHost: ORIGIN\r\n\r\n"},
    {"OtherProtocol", "GET http://ORIGIN/a ICY/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"Http2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
    {"TwoSpaces", "GET  http://ORIGIN/a HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"SpaceInTarget", "GET http://ORIGIN/a b HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"BadMethod", "G(T http://ORIGIN/a HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"NoHost", "GET http://ORIGIN/a HTTP/1.1\r\n\r\n"},
    {"TwoHosts", "GET http://ORIGIN/a HTTP/1.1\r\nHost: ORIGIN\r\nHost: ORIGIN\r\n\r\n"},
    {"BadHost", "GET http://ORIGIN/a HTTP/1.1\r\nHost: a b\r\n\r\n"},
    {"BadPort", "GET http://127.0.0.1:99999/a HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"NoAuthority", "GET http:///a HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"OtherScheme", "GET gopher://ORIGIN/a HTTP/1.1\r\nHost: ORIGIN\r\n\r\n", 501},
    {"Fragment", "GET http://ORIGIN/a#b HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"BareLf", "GET http://ORIGIN/a HTTP/1.1\nHost: ORIGIN\n\n"},
    {"BareLfInFields", get("X: 1\nY: 2\r\n")},
    {"BareCr", get("X: 1\rY: 2\r\n")},
    {"Nul", get(std::string("X: 1\0Y\r\n", 8))},
    {"Folded", get("X: 1\r\n folded\r\n")},
    {"SpaceBeforeColon", get("X : 1\r\n")},
    {"NoColon", get("X\r\n")},
    {"NoName", get(": 1\r\n")},
    {"BadName", get("X(Y): 1\r\n")},
    {"ListOfLengths", post("Content-Length: 3, 3\r\n", "abc")},
    {"TwoLengths", post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc")},
    {"DifferentLengths", post("Content-Length: 3\r\nContent-Length: 4\r\n", "abc")},
    {"SignedLength", post("Content-Length: +3\r\n", "abc")},
    {"NegativeLength", post("Content-Length: -3\r\n", "abc")},
    {"HexLength", post("Content-Length: 0x3\r\n", "abc")},
    {"HugeLength", post("Content-Length: 99999999999999999999\r\n", "abc")},
    {"LengthAndCoding", post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n")},
    {"CodingAndLength", post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n", "0\r\n\r\n")},
    {"UnknownCoding", post("Transfer-Encoding: xchunked\r\n", "abc")},
    {"ChunkedNotLast", post("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n")},
    {"ChunkedTwice", post("Transfer-Encoding: chunked, chunked\r\n", "0\r\n\r\n")},
    {"CodingBeforeChunked", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), 501},
    {"CodingInHttp10",
     "POST http://ORIGIN/a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
    {"ConnectWithoutPort", "CONNECT 127.0.0.1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"},
    {"ConnectToAUrl", "CONNECT http://ORIGIN/ HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
    {"AsteriskWithGet", "GET * HTTP/1.1\r\nHost: ORIGIN\r\n\r\n"},
};

class MalformedRequest : public testing::TestWithParam<Malformed> {};

TEST_P(MalformedRequest, IsRefusedWithItsReasonAndNothingIsForwarded) {
  Scene scene;
  std::string text = GetParam().text;
  const std::string authority = authority_of(scene.origin.url("/"));
  for (auto at = text.find("ORIGIN"); at != std::string::npos; at = text.find("ORIGIN")) {
    text.replace(at, 6, authority);
  }
  scene.client.send(text + request_text("GET", scene.origin.url("/smuggled")));
  const Response response = scene.client.read();
  EXPECT_EQ(response.status, GetParam().status);
  EXPECT_TRUE(response.body.ends_with('\n')) << response.body;
  EXPECT_EQ(std::count(response.body.begin(), response.body.end(), '\n'), 1) << response.body;
  EXPECT_TRUE(contains(response.field("Connection"), "close"));
  EXPECT_TRUE(scene.client.is_closed());
  EXPECT_EQ(scene.origin.connections(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Requests, MalformedRequest, testing::ValuesIn(kRequests),
                         [](const auto& test) { return test.param.name; });

TEST(MalformedBody, EndsTheExchangeWithoutAWholeRequestAtTheOrigin) {
  for (const char* body : {"xyz\r\nabc\r\n", "3\r\nabcd\r\n0\r\n\r\n", "-1\r\n\r\n", "3;\n\r\nabc",
                           "fffffffffffffffff\r\nabc\r\n", "3\nabc\r\n0\r\n\r\n"}) {
    Scene scene;
    scene.origin.on("/a", Reply(201));
    scene.client.send(
        request_text("POST", scene.origin.url("/a"), {{"Transfer-Encoding", "chunked"}}) + body +
        request_text("GET", scene.origin.url("/smuggled")));
    const std::string answer = scene.client.read_bytes(std::string::npos);
    EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 400 ")) << body << answer;
    for (const Request& request : scene.origin.requests()) EXPECT_FALSE(request.whole) << body;
    EXPECT_EQ(scene.origin.count("/smuggled"), 0U);
  }
}

TEST(MalformedBody, OfACutUploadIsNeverWholeAtTheOrigin) {
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
