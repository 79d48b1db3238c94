#include "proxy/net/input.hpp"

#include <algorithm>
#include <boost/beast/http/error.hpp>
#include <cstring>
#include <limits>

namespace proxy::net {

namespace asio = net::asio;
using HttpError = boost::beast::http::error;
using boost::beast::http::make_error_code;
using net::Result;
using net::Task;

BufferPool::Free* BufferPool::of_size(std::size_t size) {
  if (size == kSize) return &large_;
  return size == kSmall ? &small_ : nullptr;
}

std::unique_ptr<char[]> BufferPool::take(std::size_t size) {
  if (size == 0) return nullptr;
  Free* const free = of_size(size);
  // Not zeroed: a read overwrites the bytes.
  if (!free || free->empty()) return std::make_unique_for_overwrite<char[]>(size);
  auto buffer = std::move(free->back());
  free->pop_back();
  return buffer;
}

void BufferPool::give_back(std::unique_ptr<char[]> buffer, std::size_t size) {
  Free* const free = of_size(size);
  if (free && free->size() < kKept) free->push_back(std::move(buffer));
}

std::optional<std::string_view> Input::head_at_hand(std::size_t limit) const {
  const auto end = http::find_head_end(buffered());
  if (end == std::string_view::npos || end > limit) return std::nullopt;
  return buffered().substr(0, end);
}

Task<Result<std::string_view>> Input::head(std::size_t limit, HeadWatch* watch) {
  std::size_t searched = 0;
  for (;;) {
    const auto bytes = buffered();
    const auto end = http::find_head_end(bytes, searched);
    if (end != std::string_view::npos && end <= limit) co_return bytes.substr(0, end);
    if (bytes.size() >= limit) co_return http::make_error_code(http::HeadError::too_large);
    // A head that comes byte by byte is not searched from its begin each time.
    searched = bytes.size();
    if (watch && searched > 0) watch->incomplete(searched, buffer_.size());
    if (!make_room(std::max(limit, BufferPool::kSize))) {
      co_return make_error_code(HttpError::buffer_overflow);
    }
    const auto read = co_await stream_.read_some(room());
    if (read) end_ += *read;
    if (!read) {
      const bool cut = read.error() == asio::error::eof && !empty();
      co_return cut ? make_error_code(HttpError::partial_message) : read.error();
    }
  }
}

bool Input::make_room(std::size_t limit) {
  // The small buffer is for arrive(), and for the rest of a head that began there.
  if (empty() && buffer_.size() <= BufferPool::kSmall) replace(BufferPool::kSize);
  if (empty()) begin_ = end_ = 0;
  if (end_ < buffer_.size()) return true;
  if (buffer_.size() == BufferPool::kSmall) {
    replace(BufferPool::kSize);
    return true;
  }
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    return true;
  }
  if (buffer_.size() >= limit) return false;
  // Doubled, so that a head that grows byte by byte is not copied for each of them.
  replace(std::min(buffer_.size() * 2, limit));
  return true;
}

void Input::replace(std::size_t size) {
  auto other = buffer_.other(size);
  const auto kept = buffered();
  std::copy(kept.begin(), kept.end(), other.data());
  buffer_ = std::move(other);
  begin_ = 0;
  end_ = kept.size();
}

Task<Result<std::size_t>> Input::fill(std::size_t limit) {
  if (!make_room(std::max(limit, BufferPool::kSize))) {
    co_return make_error_code(HttpError::buffer_overflow);
  }
  const auto read = co_await stream_.read_some(room());
  if (read) end_ += *read;
  co_return read;
}

std::optional<net::error_code> Input::arrive() {
  if (!empty()) return net::error_code{};
  if (buffer_.size() != BufferPool::kSmall) replace(BufferPool::kSmall);
  begin_ = end_ = 0;
  const auto read = stream_.try_read(room());
  if (!read) {
    replace(0);
    return std::nullopt;
  }
  if (!*read) return read->error();
  end_ = **read;
  return net::error_code{};
}

// Answers to pipelined requests are then joined, which spares a packet and a system call each.
bool Input::has_head_after(std::size_t n) {
  const auto has_head = [&] {
    return http::find_head_end(buffered().substr(n)) != std::string_view::npos;
  };
  if (end_ - begin_ <= n) return false;
  if (has_head()) return true;
  if (end_ < buffer_.size() || !make_room(BufferPool::kSize)) return false;
  const auto more = stream_.try_read(room());
  if (!more || !*more) return false;
  end_ += **more;
  return has_head();
}

TakenBytes Input::take() {
  const auto bytes = buffered();
  TakenBytes all(std::move(buffer_), bytes);  // the bytes stay where they are
  begin_ = end_ = 0;
  return all;
}

bool BodyReader::finished() const {
  switch (framing_.kind) {
    case http::Framing::Kind::none:
      return true;
    case http::Framing::Kind::sized:
      return received_ == framing_.length;
    case http::Framing::Kind::chunked:
      return decoder_.done();
    case http::Framing::Kind::until_close:
      return ended_;
  }
  return true;
}

Task<Result<std::size_t>> BodyReader::read(asio::mutable_buffer into,
                                           std::chrono::milliseconds idle) {
  if (finished()) co_return std::size_t{0};
  input_->stream().expires_after(idle);
  Result<std::size_t> read = std::size_t{0};
  if (framing_.kind == http::Framing::Kind::chunked) {
    read = co_await read_chunked(into);
  } else {
    into = within_length(into);
    read = take_buffered(into);
    if (*read == 0) read = co_await input_->stream().read_some(into);
  }
  if (read) received_ += *read;
  if (read || read.error() != asio::error::eof) co_return read;
  // RFC 9112 8: a body that the end of the connection cuts is incomplete.
  if (framing_.kind != http::Framing::Kind::until_close) {
    co_return make_error_code(HttpError::partial_message);
  }
  ended_ = true;
  co_return std::size_t{0};
}

std::size_t BodyReader::at_hand(asio::mutable_buffer into) {
  if (framing_.kind != http::Framing::Kind::sized) return 0;
  const auto taken = take_buffered(within_length(into));
  received_ += taken;
  return taken;
}

std::optional<TakenBytes> BodyReader::whole() {
  using Kind = http::Framing::Kind;
  const bool is_sized = framing_.kind == Kind::sized || framing_.kind == Kind::none;
  const auto length = framing_.kind == Kind::sized ? framing_.length : 0;
  // Bytes after the body belong to another message, which would be lost with the buffer.
  if (!is_sized || received_ > 0 || input_->buffered().size() != length) return std::nullopt;
  received_ = length;
  return length > 0 ? input_->take() : TakenBytes();
}

Task<Result<std::size_t>> BodyReader::read_into(net::Pipe& pipe, std::chrono::milliseconds idle) {
  if (finished()) co_return std::size_t{0};
  input_->stream().expires_after(idle);
  const auto moved = co_await pipe.read_from(input_->stream(), framing_.length - received_);
  if (moved) received_ += *moved;
  if (moved || moved.error() != asio::error::eof) co_return moved;
  co_return make_error_code(HttpError::partial_message);
}

asio::mutable_buffer BodyReader::within_length(asio::mutable_buffer into) const {
  if (framing_.kind != http::Framing::Kind::sized) return into;
  const auto left = std::min<std::uint64_t>(framing_.length - received_, into.size());
  return asio::buffer(into.data(), static_cast<std::size_t>(left));
}

std::size_t BodyReader::take_buffered(asio::mutable_buffer into) {
  const auto ready = input_->buffered().substr(0, into.size());
  std::copy(ready.begin(), ready.end(), static_cast<char*>(into.data()));
  input_->consume(ready.size());
  return ready.size();
}

Task<Result<std::size_t>> BodyReader::read_chunked(asio::mutable_buffer into) {
  for (;;) {
    const auto decoded = decode_buffered(into);
    if (!decoded || *decoded > 0 || decoder_.done()) co_return decoded;
    const auto read = co_await input_->fill(BufferPool::kSize);
    if (!read) co_return read;
  }
}

Result<std::size_t> BodyReader::decode_buffered(asio::mutable_buffer into) {
  std::size_t produced = 0;
  while (produced < into.size() && !input_->empty() && !decoder_.done()) {
    // The decoder returns slices of its input, so an input no longer than `into` always fits.
    const auto shown = input_->buffered().substr(0, into.size() - produced);
    const auto step = decoder_.feed(shown);
    if (decoder_.failed()) return make_error_code(HttpError::bad_chunk);
    std::copy(step.body.begin(), step.body.end(), static_cast<char*>(into.data()) + produced);
    produced += step.body.size();
    input_->consume(step.consumed);
  }
  return produced;
}

}  // namespace proxy::net
