#include "tests/support/incoming.hpp"

#include <array>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <limits>
#include <type_traits>

namespace support {
namespace {

namespace http = boost::beast::http;

template <class Message>
using BeastParser = http::parser<std::is_same_v<Message, Request>, http::buffer_body>;

// Stricter than Beast: no message of the proxy's has folded lines (RFC 9112 section 5.2).
void refuse_folded_lines(std::string_view head) {
  if (head.find("\r\n ") == head.npos && head.find("\r\n\t") == head.npos) return;
  throw Malformed("a folded line in " + std::string(head));
}

void describe(const http::request_header<>& read, Request& request) {
  request.method = read.method_string();
  request.target = read.target();
  request.path = path_of(request.target);
}

void describe(const http::response_header<>& read, Response& response) {
  response.status = static_cast<int>(read.result_int());
}

bool opens_tunnel(const Request&, std::string_view) {
  return false;
}

bool opens_tunnel(const Response& response, std::string_view method) {
  return method == "CONNECT" && response.status / 100 == 2;
}

}  // namespace

template <class Message>
struct Incoming<Message>::Parser : BeastParser<Message> {
  explicit Parser(std::string_view method) {
    this->header_limit(std::numeric_limits<std::uint32_t>::max());
    this->body_limit(boost::none);
    this->skip(method == "HEAD");
  }

  std::array<char, 65536> room;
};

template <class Message>
Incoming<Message>::Incoming(Socket& socket) : socket_(socket) {}

template <class Message>
Incoming<Message>::~Incoming() = default;

template <class Message>
bool Incoming<Message>::receive() {
  const std::string bytes = socket_.read_some();
  buffer_ += bytes;
  return !bytes.empty();
}

// What the parser took, possibly nothing; none at the end of the stream.
template <class Message>
std::optional<std::string> Incoming<Message>::parse() {
  if ((buffer_.empty() || starved_) && !receive()) return std::nullopt;
  boost::system::error_code error;
  const auto count = parser_->put(boost::asio::const_buffer(buffer_.data(), buffer_.size()), error);
  starved_ = error == http::error::need_more;
  if (error && !starved_ && error != http::error::need_buffer) {
    throw Malformed(error.message() + " in " + buffer_.substr(0, 1000));
  }
  std::string taken = buffer_.substr(0, count);
  buffer_.erase(0, count);
  return taken;
}

template <class Message>
std::optional<Message> Incoming<Message>::head(std::string_view method) {
  parser_ = std::make_unique<Parser>(method);
  starved_ = false;
  std::string text;
  while (!parser_->is_header_done()) {
    const auto taken = parse();
    if (!taken) return std::nullopt;
    text += *taken;
  }
  refuse_folded_lines(text);
  parser_->eager(true);
  Message message;
  message.start_line = text.substr(0, text.find("\r\n"));
  for (const auto& field : parser_->get()) {
    message.fields.emplace_back(field.name_string(), field.value());
  }
  describe(parser_->get(), message);
  if (opens_tunnel(message, method)) parser_.reset();
  return message;
}

template <class Message>
std::string Incoming<Message>::body_piece() {
  std::string piece;
  while (piece.empty() && !body_whole()) {
    auto& body = parser_->get().body();
    body.data = parser_->room.data();
    body.size = parser_->room.size();
    const bool ended = !parse();
    piece.assign(parser_->room.data(), parser_->room.size() - body.size);
    if (!ended) continue;
    boost::system::error_code cut;
    if (!socket_.was_reset()) parser_->put_eof(cut);  // completes a body without stated length
    buffer_.clear();                                  // the beginning of a chunk, of no use alone
    break;
  }
  return piece;
}

template <class Message>
bool Incoming<Message>::body_whole() const {
  return !parser_ || parser_->is_done();
}

template <class Message>
std::string Incoming<Message>::bytes(std::size_t count) {
  while (buffer_.size() < count && receive()) {
  }
  std::string taken = buffer_.substr(0, count);
  buffer_.erase(0, taken.size());
  return taken;
}

template class Incoming<Request>;
template class Incoming<Response>;

}  // namespace support
