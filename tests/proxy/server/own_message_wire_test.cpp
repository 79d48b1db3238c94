#include "proxy/reply/own_message.hpp"

#include <gtest/gtest.h>

#include <boost/beast/http/parser.hpp>

#include "tests/proxy/scene.hpp"

namespace proxy::server {

namespace beast = boost::beast;
namespace {

net::Task<void> send(client::Client& client, const reply::OwnMessage& message) {
  co_await reply::send_message(client, message);
}

net::Task<void> send_in_parts(client::Client& client) {
  const auto head = reply::own_head(client, 200, "text/plain");
  co_await reply::send_head(client, head);
  co_await client.response.body(net::asio::buffer("ab", 2));
  co_await client.response.finish();
}

// Parses the bytes that the client got with Beast.
reply::OwnMessage read(const std::string& text, bool of_head = false) {
  beast::http::response_parser<beast::http::string_body> parser;
  parser.skip(of_head);
  beast::error_code error;
  parser.eager(true);
  parser.put(net::asio::buffer(text), error);
  EXPECT_FALSE(error) << text;
  EXPECT_TRUE(parser.is_done()) << text;
  return parser.release();
}

TEST(OwnMessageOnTheWire, ArrivesWholeWithItsLengthAndSaysWhoMadeIt) {
  Scene scene;
  scene.response.begin({1, false, true});
  const auto message = reply::own_message(scene.client, 413, "text/plain; charset=utf-8", "no\n");
  const auto text = scene.received(send(scene.client, message));
  EXPECT_TRUE(text.starts_with("HTTP/1.1 413 Payload Too Large\r\nServer: Hearsay/")) << text;
  const auto got = read(text);
  EXPECT_EQ(got.body(), "no\n");
  EXPECT_EQ(got["Content-Length"], "3");
  EXPECT_EQ(got["Via"], "1.1 cache-a");
  EXPECT_EQ(got["Cache-Control"], "no-store");
  EXPECT_EQ(got["Cache-Status"], "cache-a");
  EXPECT_FALSE(got["Date"].empty());
  EXPECT_EQ(scene.record.content_type, "text/plain") << "for the access log";
  EXPECT_TRUE(scene.response.may_go_on());
}

TEST(OwnMessageOnTheWire, HasItsLengthAndNoBodyInAnswerToHead) {
  Scene scene;
  scene.response.begin({1, true, false});
  const auto message = reply::own_message(scene.client, 200, "text/plain", "body");
  const auto got = read(scene.received(send(scene.client, message)), true);
  EXPECT_EQ(got["Content-Length"], "4");
  EXPECT_EQ(got["Connection"], "close");
}

TEST(OwnMessageOnTheWire, WithoutABodySaysSo) {
  Scene scene;
  scene.response.begin({1, false, false});
  const auto message = reply::own_message(scene.client, 200, "", "");
  const auto got = read(scene.received(send(scene.client, message)));
  EXPECT_EQ(got["Content-Length"], "0");
  EXPECT_EQ(got.count("Content-Type"), 0U);
}

TEST(OwnMessageOnTheWire, OfUnknownLengthIsChunked) {
  Scene scene;
  scene.response.begin({1, false, false});
  const auto got = read(scene.received(send_in_parts(scene.client)));
  EXPECT_EQ(got["Transfer-Encoding"], "chunked");
  EXPECT_EQ(got.body(), "ab");
}

}  // namespace
}  // namespace proxy::server
