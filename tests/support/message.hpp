// HTTP/1.1 messages as tests see them: heads as they stand on the wire, bodies piece by piece.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/socket.hpp"

namespace support {

using Field = std::pair<std::string, std::string>;
using Fields = std::vector<Field>;

// A start line and its fields. Names are compared without case.
struct Head {
  std::string start_line;
  Fields fields;

  bool has(std::string_view name) const;
  // All values of that name joined by ", "; empty if there is none.
  std::string field(std::string_view name) const;
};

struct Response : Head {
  int status = 0;
  std::string body;
  bool whole = false;  // the body ended as its framing said

  std::string version() const { return start_line.substr(0, start_line.find(' ')); }
};

enum class Framing { none, sized, chunked, until_close };

// What the other side sends, cut into heads and bodies.
class Incoming {
 public:
  explicit Incoming(Socket& socket) : socket_(socket) {}

  // The next head; none if the other side closed without one.
  std::optional<Head> head();
  // Says how the body after the last head ends.
  void begin_body(Framing framing, std::uint64_t size = 0);
  // The next bytes of the body, of which there is no more after an empty piece.
  std::string body_piece();
  // The body has been read to the end that its framing gave it.
  bool body_whole() const { return whole_; }
  // Bytes that belong to no message: what came through a tunnel, or after the last message.
  std::string bytes(std::size_t count);

 private:
  bool more();
  std::optional<std::string> line();
  std::string take(std::uint64_t limit);
  bool next_chunk();

  Socket& socket_;
  std::string buffer_;
  Framing framing_ = Framing::none;
  std::uint64_t left_ = 0;  // of the sized body or of the chunk
  bool in_chunk_ = false;
  bool whole_ = true;
};

// How the body of a request, or of the response to `method`, is framed (RFC 9112 section 6.3).
Framing request_framing(const Head& head);
Framing response_framing(const Head& head, int status, std::string_view method);
std::uint64_t content_length(const Head& head);

// Case aside, does the text hold this?
bool contains(std::string_view text, std::string_view part);

// "http://host:port/path" cut after the authority; the path of "/path" is itself.
std::string authority_of(std::string_view url);
std::string path_of(std::string_view target);

// The wall clock's time, or one that far from it, as Date and Expires say it.
std::string http_date(std::chrono::seconds from_now = std::chrono::seconds(0));

std::string head_text(std::string_view start_line, const Fields& fields);
std::string chunk(std::string_view bytes);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace support
