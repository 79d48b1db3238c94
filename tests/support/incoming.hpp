// Messages as Boost.Beast's parser reads them: a second reading of the proxy's bytes, which shares
// no code with the proxy's own.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "tests/support/message.hpp"
#include "tests/support/socket.hpp"

namespace support {

// The other side sent bytes that are not HTTP/1.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Cuts the bytes of one direction of a connection into messages and their bodies. `Message` is
// Request at an origin, Response at a client. Every call may throw Malformed or what Socket throws.
template <class Message>
class Incoming {
 public:
  explicit Incoming(Socket& socket);
  ~Incoming();
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;

  // The next message, its body still empty; none if the stream ends before the head does. The body
  // of the message before has been read to its end. `method`: of the request that a response
  // answers, on which the response's framing depends (RFC 9112 section 6.3).
  std::optional<Message> head(std::string_view method = {});
  // Waits for bytes of the body and returns them; empty at the end of the body or of the stream.
  std::string body_piece();
  // The body has been read to the end that its framing gave it.
  bool body_whole() const;
  // The next `count` bytes outside any message: from a tunnel, or after the last message. Fewer
  // only where the stream ends.
  std::string bytes(std::size_t count);

 private:
  struct Parser;

  bool receive();
  std::optional<std::string> parse();

  Socket& socket_;
  std::string buffer_;              // received, not yet parsed
  bool starved_ = false;            // what is in buffer_ is not enough for the parser
  std::unique_ptr<Parser> parser_;  // none while no message has a body here
};

extern template class Incoming<Request>;
extern template class Incoming<Response>;

}  // namespace support
