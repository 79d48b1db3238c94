// Bytes that pass from one connection to another within the kernel, without a copy (splice(2)).
#pragma once

#include <boost/core/noncopyable.hpp>
#include <cstddef>
#include <memory>

#include "proxy/machine/descriptor.hpp"
#include "proxy/net/stream.hpp"

namespace proxy::net {

// A pipe of the kernel, which belongs to one coroutine. Its bytes, at most kMost of them, take
// memory of the kernel.
class Pipe {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 20;

  // Makes a pipe. Null: the process has no descriptor left.
  static std::unique_ptr<Pipe> make();

  // Moves at least one byte and at most `most` bytes from the connection into the pipe, which must
  // be empty. Waits for the first byte. The end of the stream is asio::error::eof. Not with TLS.
  Task<Result<std::size_t>> read_from(Stream& from, std::size_t most);
  // The bytes in the pipe, for Stream::send_file(). The caller tells sent() how many of them that
  // call has sent.
  [[nodiscard]] FilePart content() const { return {out_.number(), {}, held_}; }
  void sent(std::size_t bytes) { held_ -= bytes; }
  [[nodiscard]] bool empty() const { return held_ == 0; }

 private:
  Pipe(int in, int out) : in_(in), out_(out) {}

  machine::Descriptor in_;
  machine::Descriptor out_;
  std::size_t held_ = 0;
};

// Counts the pipes of one thread. Each takes two descriptors, so they are few.
class Pipes {
 public:
  static constexpr std::size_t kMost = 32;  // at once

  // One response's pipe, for as long as this object lives: bytes that one response leaves in a pipe
  // must not reach the next.
  class Lent : boost::noncopyable {
   public:
    explicit Lent(Pipes& pipes)
        : pipes_(pipes), pipe_(pipes.lent_ < kMost ? Pipe::make() : nullptr) {
      if (pipe_) ++pipes_.lent_;
    }
    ~Lent() {
      if (pipe_) --pipes_.lent_;
    }

    // The lent pipe. Null: all pipes are lent, or the process has no descriptor left.
    [[nodiscard]] Pipe* get() const { return pipe_.get(); }

   private:
    Pipes& pipes_;
    const std::unique_ptr<Pipe> pipe_;
  };

 private:
  std::size_t lent_ = 0;
};

}  // namespace proxy::net
