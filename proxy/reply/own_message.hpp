// The proxy's own responses: Boost.Beast messages, and the only code that passes them to the
// client's ResponseWriter.
#pragma once

#include <boost/beast/core/buffers_range.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/container/small_vector.hpp>
#include <chrono>
#include <span>
#include <string>
#include <string_view>

#include "proxy/client/client.hpp"
#include "proxy/http/cache_status.hpp"

namespace proxy::reply {

namespace beast = boost::beast;

using OwnHead = beast::http::response_header<>;
using OwnMessage = beast::http::response<beast::http::string_body>;

// The status line and the fields that each of our own responses has: Server, Date, Via,
// Content-Type unless `content_type` is empty, and Cache-Status. The writer adds Connection and
// framing.
OwnHead own_head(const client::Client& client, unsigned status, std::string_view content_type,
                 const http::CacheStatus& cache_status = {});

// A whole response with own_head() and `Cache-Control: no-store`.
OwnMessage own_message(const client::Client& client, unsigned status, std::string_view content_type,
                       std::string body, const http::CacheStatus& cache_status = {});

// Sends the head of a response whose body the caller gives to the writer part by part.
net::Task<net::error_code> send_head(client::Client& client, const OwnHead& head);

using MessageParts = boost::container::small_vector<net::asio::const_buffer, 4>;

// The bytes that the serializer has ready; empty at the end. Valid until the serializer consumes
// them.
template <class Serializer>
MessageParts ready_parts(Serializer& serializer) {
  MessageParts parts;
  if (serializer.is_done()) return parts;
  beast::error_code never;  // our bodies are in memory
  serializer.next(never, [&parts](beast::error_code&, const auto& buffers) {
    for (const net::asio::const_buffer part : beast::buffers_range_ref(buffers)) {
      parts.push_back(part);
    }
  });
  return parts;
}

// Consumes the head and returns its text without the empty line, which the writer appends.
template <class Serializer>
std::string take_head(Serializer& serializer) {
  serializer.split(true);
  std::string text;
  for (const auto part : ready_parts(serializer)) {
    text.append(static_cast<const char*>(part.data()), part.size());
  }
  serializer.consume(text.size());
  return text.substr(0, text.size() - 2);
}

// Records the message's type for the access log.
void record_content_type(client::Client& client, const OwnHead& head);

// Sends the whole message, with a wait of `pause` after each part of its body but the last. An
// error means that the client is gone or too slow.
template <class Body>
net::Task<net::error_code> send_message(client::Client& client,
                                        const beast::http::response<Body>& message,
                                        std::chrono::milliseconds pause = {}) {
  record_content_type(client, message);
  beast::http::serializer<false, Body> serializer(message);
  const auto head = take_head(serializer);
  auto parts = ready_parts(serializer);
  std::span<const net::asio::const_buffer> bytes(parts.data(), parts.size());
  auto error =
      co_await client.response.start(head, message.result_int(), Body::size(message.body()), bytes);
  for (; !error; error = co_await client.response.body(bytes)) {
    serializer.consume(net::asio::buffer_size(bytes));
    parts = ready_parts(serializer);
    if (parts.empty()) break;
    bytes = {parts.data(), parts.size()};
    net::Timer timer(client.access.executor(), pause);
    co_await timer.async_wait(net::as_result);
  }
  if (!error) error = co_await client.response.finish();
  co_return error;
}

}  // namespace proxy::reply
