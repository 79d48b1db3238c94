#include "proxy/http/framing.hpp"

#include <gtest/gtest.h>

#include <string>

namespace proxy::http {
namespace {

struct Asking {
  const char* name;
  std::string line;
  std::string fields;
  bool asks;
};

class AsksForWebSocket : public testing::TestWithParam<Asking> {};

TEST_P(AsksForWebSocket, OrNot) {
  const std::string text = GetParam().line + "\r\nHost: h\r\n" + GetParam().fields + "\r\n";
  const auto head = parse_request_head(text).value();
  EXPECT_EQ(asks_for_websocket(head, request_framing(head).value()), GetParam().asks);
}

const std::string kGet = "GET / HTTP/1.1";
const std::string kBoth = "Connection: Upgrade\r\nUpgrade: websocket\r\n";

INSTANTIATE_TEST_SUITE_P(
    Rfc9110_7_8, AsksForWebSocket,
    testing::Values(
        Asking{"Plainly", kGet, kBoth, true},
        Asking{"InAnyCase", kGet, "connection: UPGRADE\r\nupgrade: WebSocket\r\n", true},
        Asking{"AmongOthers", kGet, "Connection: close, upgrade\r\nUpgrade: h2c, websocket\r\n",
               true},
        Asking{"OnTwoLines", kGet,
               "Connection: x\r\nConnection: Upgrade\r\nUpgrade: a\r\nUpgrade: websocket\r\n",
               true},
        Asking{"WithNoContent", kGet, kBoth + "Content-Length: 0\r\n", true},
        Asking{"NotNamedInConnection", kGet, "Upgrade: websocket\r\n", false},
        Asking{"NothingOffered", kGet, "Connection: Upgrade\r\n", false},
        Asking{"H2c", kGet, "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n", false},
        Asking{"AVersionOfIt", kGet, "Connection: Upgrade\r\nUpgrade: websocket/13\r\n", false},
        Asking{"Quoted", kGet, "Connection: Upgrade\r\nUpgrade: \"websocket\"\r\n", false},
        Asking{"Http10", "GET / HTTP/1.0", kBoth, false},
        Asking{"Post", "POST / HTTP/1.1", kBoth, false},
        Asking{"Head", "HEAD / HTTP/1.1", kBoth, false},
        Asking{"WithABody", kGet, kBoth + "Content-Length: 3\r\n", false},
        Asking{"WithAChunkedBody", kGet, kBoth + "Transfer-Encoding: chunked\r\n", false}),
    [](const auto& test) { return test.param.name; });

struct Answering {
  const char* name;
  std::string head;
  bool becomes;
};

class BecomesWebSocket : public testing::TestWithParam<Answering> {};

TEST_P(BecomesWebSocket, OrNot) {
  std::string text = GetParam().head + "\r\n";
  EXPECT_EQ(becomes_websocket(parse_response_head(text).value()), GetParam().becomes);
}

const std::string k101 = "HTTP/1.1 101 Switching Protocols\r\n";

INSTANTIATE_TEST_SUITE_P(
    Rfc9110_15_2_2, BecomesWebSocket,
    testing::Values(
        Answering{"Plainly", k101 + kBoth, true},
        Answering{"InAnyCase", k101 + "upgrade: WEBSOCKET\r\nconnection: upgrade\r\n", true},
        Answering{"AnotherStatus", "HTTP/1.1 200 OK\r\n" + kBoth, false},
        Answering{"Http10", "HTTP/1.0 101 X\r\n" + kBoth, false},
        Answering{"SaysNothing", k101, false},
        Answering{"SaysAnother", k101 + "Connection: Upgrade\r\nUpgrade: h2c\r\n", false},
        Answering{"SaysMore", k101 + "Connection: Upgrade\r\nUpgrade: websocket, h2c\r\n", false},
        Answering{"SaysItTwice", k101 + kBoth + "Upgrade: websocket\r\n", false},
        Answering{"NotNamedInConnection", k101 + "Upgrade: websocket\r\n", false},
        Answering{"WithALength", k101 + kBoth + "Content-Length: 5\r\n", true},
        Answering{"WithACoding", k101 + kBoth + "Transfer-Encoding: chunked\r\n", true}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace proxy::http
