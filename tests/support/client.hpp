// A client that says exactly what a test tells it to, and shows exactly what it got.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/message.hpp"
#include "tests/support/socket.hpp"

namespace support {

// The text of a request in absolute-form with a Host; a body brings its Content-Length.
std::string request_text(std::string_view method, std::string_view url, const Fields& fields = {},
                         std::string_view body = {});

// One connection to 127.0.0.1. Every wait ends after kPatience with an exception, which fails the
// test that waits.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(Socket::connect(port)), incoming_(socket_) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // False if the other side has closed already.
  bool send(std::string_view bytes) { return socket_.write(bytes); }
  void finish_sending() { socket_.finish_writing(); }
  // Ends the connection both ways, and with it what another thread is sending.
  void leave() { socket_.shut_down(); }

  // The next response to a request of this method. 1xx before it are kept in interim().
  Response read(std::string_view method = "GET");
  // Only its head; the body is read by the two calls below.
  Response read_head(std::string_view method = "GET");
  // Bytes of the body, fewer only where it ends.
  std::string read_body(std::size_t count);
  // What is left of it, into a response whose head was read before.
  void read_rest(Response& response);
  // The next head, interim or not.
  Response read_interim() { return next_head("GET"); }
  const std::vector<Response>& interim() const { return interim_; }

  Response get(std::string_view url, const Fields& fields = {});
  Response request(std::string_view method, std::string_view url, const Fields& fields = {},
                   std::string_view body = {});

  // Bytes outside any message, fewer only where the stream ends.
  std::string read_bytes(std::size_t count) { return incoming_.bytes(count); }
  // Waits for the next byte or the end of the stream.
  bool is_closed() { return read_bytes(1).empty(); }

 private:
  Response next_head(std::string_view method);

  Socket socket_;
  Incoming incoming_;
  std::string unread_;  // of the body, beyond what read_body() was asked for
  std::vector<Response> interim_;
};

}  // namespace support
