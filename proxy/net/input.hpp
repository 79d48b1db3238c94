// Buffered reading of one connection: whole heads, and bodies by their framing.
#pragma once

#include <algorithm>
#include <boost/core/noncopyable.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/http/framing.hpp"
#include "proxy/net/pipe.hpp"
#include "proxy/net/stream.hpp"

namespace proxy::net {

// Read buffers of one thread, lent to connections that are reading, so that idle ones hold none.
class BufferPool {
 public:
  static constexpr std::size_t kSize = 16384;
  static constexpr std::size_t kSmall = 1024;  // most requests fit in it

  // The pool keeps buffers of these two sizes. Of any other size, each is made anew, and freed when
  // it is given back; 0: null.
  std::unique_ptr<char[]> take(std::size_t size = kSize);
  void give_back(std::unique_ptr<char[]> buffer, std::size_t size = kSize);

 private:
  using Free = std::vector<std::unique_ptr<char[]>>;
  Free* of_size(std::size_t size);

  static constexpr std::size_t kKept = 256;
  Free large_;
  Free small_;
};

// A buffer that returns to its pool at the end of its life. The pool outlives it.
class PooledBuffer {
 public:
  PooledBuffer() = default;  // none, of no pool
  explicit PooledBuffer(BufferPool& pool, std::size_t size = BufferPool::kSize)
      : pool_(&pool), size_(size), bytes_(pool.take(size)) {}
  PooledBuffer(PooledBuffer&& other) noexcept
      : pool_(other.pool_), size_(std::exchange(other.size_, 0)), bytes_(std::move(other.bytes_)) {}
  PooledBuffer& operator=(PooledBuffer&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(size_, other.size_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~PooledBuffer() {
    if (bytes_) pool_->give_back(std::move(bytes_), size_);
  }
  // Another buffer of the same pool, of this size.
  [[nodiscard]] PooledBuffer other(std::size_t size) const { return PooledBuffer(*pool_, size); }

  [[nodiscard]] char* data() const { return bytes_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] net::asio::mutable_buffer all() const { return {data(), size_}; }

 private:
  BufferPool* pool_ = nullptr;
  std::size_t size_ = 0;
  std::unique_ptr<char[]> bytes_;
};

// Bytes that were taken out of an input, in their buffer.
class TakenBytes {
 public:
  TakenBytes() = default;  // none
  TakenBytes(PooledBuffer buffer, std::string_view bytes)
      : buffer_(std::move(buffer)), bytes_(bytes) {}

  [[nodiscard]] std::string_view view() const { return bytes_; }
  [[nodiscard]] std::size_t memory() const { return buffer_.size(); }

 private:
  PooledBuffer buffer_;
  std::string_view bytes_;
};

// Watches a head that arrives in more than one piece.
class HeadWatch {
 public:
  // Called after each piece of a head but the last: `bytes` of the head have arrived, and take
  // `memory` bytes.
  virtual void incomplete(std::size_t bytes, std::size_t memory) = 0;

 protected:
  ~HeadWatch() = default;
};

// Bytes that were read from a stream and not consumed yet. Views into them are valid until the next
// read or consume(). The stream and the pool outlive the input. Belongs to one coroutine.
class Input : boost::noncopyable {
 public:
  Input(net::Stream& stream, BufferPool& pool) : stream_(stream), buffer_(pool, 0) {}

  // Waits for a whole head and returns its bytes, still unconsumed. Errors:
  // HeadError::too_large, as a code, if `limit` bytes hold no end of a head; eof at the end of the
  // stream; http::error::partial_message if the stream ends within a head.
  net::Task<net::Result<std::string_view>> head(std::size_t limit, HeadWatch* watch = nullptr);
  // Returns the head without a wait; nothing if it has not arrived.
  [[nodiscard]] std::optional<std::string_view> head_at_hand(std::size_t limit) const;
  // Waits for bytes and appends them to the buffer, which holds at most `limit` bytes (or
  // BufferPool::kSize, if that is more). Returns how many bytes arrived. A full buffer is
  // http::error::buffer_overflow.
  net::Task<net::Result<std::size_t>> fill(std::size_t limit);
  // Reads bytes that have arrived, at most BufferPool::kSmall, without a wait. Does nothing if the
  // input has bytes already. Returns success if the input has bytes afterwards, or the error of the
  // stream. Returns nullopt if no bytes have arrived, or if the deadline has passed.
  std::optional<net::error_code> arrive();
  // Whether a whole head follows the first `n` bytes. If the buffer could not hold all that has
  // arrived, reads more of it. Never waits. Ends the validity of views.
  bool has_head_after(std::size_t n);

  [[nodiscard]] std::string_view buffered() const {
    return {buffer_.data() + begin_, end_ - begin_};
  }
  [[nodiscard]] bool empty() const { return begin_ == end_; }
  // The size of the buffer.
  [[nodiscard]] std::size_t memory() const { return buffer_.size(); }
  void consume(std::size_t n) { begin_ += std::min(n, end_ - begin_); }
  // Takes all bytes, which are then consumed.
  TakenBytes take();
  // Returns the buffer to the pool if it is empty; call this before a long wait for anything else.
  void release_if_empty() {
    if (empty()) replace(0);
  }

  net::Stream& stream() { return stream_; }

 private:
  [[nodiscard]] net::asio::mutable_buffer room() const { return buffer_.all() + end_; }
  bool make_room(std::size_t limit);
  // Moves the bytes to a buffer of this size; 0: there are none, and the buffer is given back.
  void replace(std::size_t size);

  net::Stream& stream_;
  PooledBuffer buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

// One message body, read by its framing into the caller's memory. Errors:
// http::error::partial_message for a cut body, http::error::bad_chunk for a damaged chunk.
class BodyReader {
 public:
  BodyReader(Input& input, http::Framing framing) : input_(&input), framing_(framing) {}

  // Reads at least one byte; returns how many, or 0 at the body's end. Each wait for bytes is
  // bounded by `idle`.
  net::Task<net::Result<std::size_t>> read(net::asio::mutable_buffer into,
                                           std::chrono::milliseconds idle);
  // Reads a body of known length like read(), but never waits. Returns the number of bytes, which
  // had arrived already.
  std::size_t at_hand(net::asio::mutable_buffer into);
  // The whole body, which then counts as read. The result is empty if the length of the body is not
  // known, if a part of the body was read or has yet to come, or if other bytes came after it.
  std::optional<TakenBytes> whole();
  // Reads as read() does, but into an empty pipe. Call this only if passes_in_kernel().
  net::Task<net::Result<std::size_t>> read_into(net::Pipe& pipe, std::chrono::milliseconds idle);
  // Whether the bytes on the connection are those of the body, and none of them is here yet.
  [[nodiscard]] bool passes_in_kernel() const {
    return framing_.kind == http::Framing::Kind::sized && input_->empty() &&
           !input_->stream().is_tls();
  }

  [[nodiscard]] const http::Framing& framing() const { return framing_; }
  // Whether the body has been read to its end.
  [[nodiscard]] bool finished() const;

 private:
  [[nodiscard]] net::asio::mutable_buffer within_length(net::asio::mutable_buffer into) const;
  std::size_t take_buffered(net::asio::mutable_buffer into);
  net::Task<net::Result<std::size_t>> read_chunked(net::asio::mutable_buffer into);
  net::Result<std::size_t> decode_buffered(net::asio::mutable_buffer into);

  Input* input_;
  http::Framing framing_;
  http::ChunkedDecoder decoder_;
  std::uint64_t received_ = 0;
  bool ended_ = false;  // of until_close: the stream has ended
};

}  // namespace proxy::net
