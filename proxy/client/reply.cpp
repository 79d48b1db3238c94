#include "proxy/client/reply.hpp"

#include "proxy/http/chunked.hpp"
#include "proxy/http/text.hpp"

namespace proxy {

using net::error_code;
using net::Task;
namespace asio = net::asio;

void Reply::begin(int client_minor, bool head_only, bool wants_more) {
  fields_.clear();
  record_ = RequestRecord{};
  minor_ = client_minor;
  head_only_ = head_only;
  keep_ = wants_more;
  chunked_ = bodiless_ = started_ = finished_ = false;
  left_.reset();
}

Task<error_code> Reply::interim(std::string_view head) {
  if (minor_ == 0) co_return error_code{};  // RFC 9110 15.2: none for HTTP/1.0
  Buffers out;
  out.push_back(asio::buffer(head));
  co_return co_await write(out);
}

void Reply::append_framing(unsigned status, std::optional<std::uint64_t> length) {
  bodiless_ = status == 204 || status == 304 || head_only_;
  left_ = bodiless_ ? std::nullopt : length;
  if (status == 204 || status == 304) {
    // RFC 9110 8.6: no length where there is never a body.
  } else if (length) {
    fields_ += "Content-Length: ";
    http::append_decimal(fields_, *length);
    fields_ += "\r\n";
  } else if (minor_ >= 1) {
    chunked_ = !bodiless_;
    if (chunked_) fields_ += "Transfer-Encoding: chunked\r\n";
  } else if (!bodiless_) {
    keep_ = false;
  }
  if (!keep_) {
    fields_ += "Connection: close\r\n";
  } else if (minor_ == 0) {
    fields_ += "Connection: keep-alive\r\n";
  }
  fields_ += "\r\n";
}

Task<error_code> Reply::start(std::string_view head, unsigned status,
                              std::optional<std::uint64_t> length,
                              std::span<const asio::const_buffer> body) {
  started_ = true;
  record_.status = status;
  append_framing(status, length);
  if (exceeds_length(body)) co_return asio::error::message_size;
  Buffers out;
  out.push_back(asio::buffer(head));
  out.push_back(asio::buffer(fields_));
  if (!bodiless_) add_chunk(out, body);
  co_return co_await write(out);
}

Task<error_code> Reply::body(const Pieces& pieces) {
  boost::container::small_vector<asio::const_buffer, 16> buffers;
  for (const auto& piece : pieces) {
    buffers.emplace_back(piece.block->data() + piece.offset, piece.size);
  }
  const std::span<const asio::const_buffer> all(buffers.data(), buffers.size());
  co_return co_await body(all);
}

Task<error_code> Reply::body(asio::const_buffer bytes) {
  const std::span<const asio::const_buffer> all(&bytes, 1);
  co_return co_await body(all);
}

Task<error_code> Reply::body(std::span<const asio::const_buffer> body) {
  if (bodiless_) co_return error_code{};
  if (exceeds_length(body)) co_return asio::error::message_size;
  Buffers out;
  add_chunk(out, body);
  co_return co_await write(out);
}

Task<error_code> Reply::finish() {
  if (left_.value_or(0) != 0) {  // a whole response was promised
    keep_ = false;
    co_return asio::error::eof;
  }
  auto error = gone_;
  if (chunked_) {
    Buffers out;
    out.push_back(asio::buffer(http::kLastChunk));
    error = co_await write(out);
  }
  finished_ = !error;
  co_return error;
}

// What goes beyond the promised length would look like the next response.
bool Reply::exceeds_length(std::span<const asio::const_buffer> body) {
  if (!left_ || asio::buffer_size(body) <= *left_) return false;
  keep_ = false;
  return true;
}

void Reply::add_chunk(Buffers& out, std::span<const asio::const_buffer> body) {
  const auto size = asio::buffer_size(body);
  if (size == 0) return;  // an empty chunk would be the last one
  if (left_) *left_ -= size;
  if (chunked_) {
    chunk_.clear();
    http::append_chunk_size(chunk_, size);
    out.push_back(asio::buffer(chunk_));
  }
  out.insert(out.end(), body.begin(), body.end());
  if (chunked_) out.push_back(asio::buffer("\r\n", 2));
}

Task<error_code> Reply::write(const Buffers& buffers) {
  if (gone_ || buffers.empty()) co_return gone_;
  client_.expires_after(idle_);
  record_.bytes += asio::buffer_size(buffers);
  gone_ = co_await client_.write(std::span(buffers.data(), buffers.size()));
  if (gone_) keep_ = false;
  co_return gone_;
}

}  // namespace proxy
