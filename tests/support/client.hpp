// A client that sends the bytes a test gives it, and reads responses with Boost.Beast's parser.
// It writes to the socket itself, as tests also send requests that Beast would not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/incoming.hpp"
#include "tests/support/socket.hpp"

namespace support {

// The text of a request in absolute-form with a Host, and with a Content-Length if there is a body.
std::string request_text(std::string_view method, std::string_view url, const Fields& fields = {},
                         std::string_view body = {});

// The same in origin-form, as for the proxy's own pages and in reverse mode.
std::string origin_form_text(std::string_view host, std::string_view method, std::string_view path,
                             const Fields& fields = {}, std::string_view body = {});

// One connection to 127.0.0.1, from 127.0.0.`from`. Calls that read or send throw TimedOut after
// kPatience, and reading a message throws Malformed where Beast refuses it: each fails the test.
class Client {
 public:
  explicit Client(std::uint16_t port, std::uint8_t from = 1)
      : socket_(Socket::connect(port, from)), incoming_(socket_) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // False if the other side has closed the connection.
  bool send(std::string_view bytes) { return socket_.write(bytes); }
  void finish_sending() { socket_.finish_writing(); }
  // Ends the connection both ways, and a send() under way on another thread.
  void leave() { socket_.shut_down(); }

  // The next final response, to a request of this method. Interim responses before it are added to
  // interim().
  Response read(std::string_view method = "GET");
  // The head alone; read_body() and read_rest() read the body.
  Response read_head(std::string_view method = "GET");
  // The next `count` bytes of the body, fewer only where it ends.
  std::string read_body(std::size_t count);
  // Adds the rest of the body to the response that read_head() returned.
  void read_rest(Response& response);
  // The next head, interim or not.
  Response read_interim() { return next_head("GET"); }
  const std::vector<Response>& interim() const { return interim_; }

  Response get(std::string_view url, const Fields& fields = {});
  Response request(std::string_view method, std::string_view url, const Fields& fields = {},
                   std::string_view body = {});

  // The next `count` bytes outside any message, fewer only where the stream ends.
  std::string read_bytes(std::size_t count) { return incoming_.bytes(count); }
  // Waits for the next byte or the end of the stream.
  bool is_closed() { return read_bytes(1).empty(); }

 private:
  Response next_head(std::string_view method);

  Socket socket_;
  Incoming<Response> incoming_;
  std::string unread_;  // bytes of the body beyond those that read_body() returned
  std::vector<Response> interim_;
};

}  // namespace support
