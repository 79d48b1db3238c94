// Bytes that pass from one connection to another within the kernel, without a copy (splice(2)).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "proxy/net/file_part.hpp"
#include "proxy/net/stream.hpp"

namespace proxy::net {

// Belongs to one coroutine. The bytes in a pipe are the kernel's memory, at most kMost of them.
class Pipe {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 20;

  // Null: the process has no descriptor left.
  static std::unique_ptr<Pipe> make();
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  // Moves at least one byte and at most `most` bytes from the connection into the pipe, which must
  // be empty. Waits for the first byte. The end of the stream is asio::error::eof. Not with TLS.
  Task<Result<std::size_t>> take_from(Stream& from, std::size_t most);
  // So many of the bytes in the pipe, for Stream::send_file().
  [[nodiscard]] FilePart front(std::size_t size) const { return {out_, {}, size}; }

 private:
  Pipe(int in, int out) : in_(in), out_(out) {}

  const int in_;
  const int out_;
};

// The pipes of one thread. Each takes two descriptors, so they are few.
class Pipes {
 public:
  static constexpr std::size_t kMost = 32;  // lent at once

  // Null: as many as may be are lent, or the process has no descriptor left.
  std::unique_ptr<Pipe> take();
  // `empty`: the pipe can be lent again.
  enum class Left : bool { empty, some };
  void give_back(std::unique_ptr<Pipe> pipe, Left left);

 private:
  static constexpr std::size_t kKept = 4;

  std::vector<std::unique_ptr<Pipe>> free_;
  std::size_t lent_ = 0;
};

}  // namespace proxy::net
