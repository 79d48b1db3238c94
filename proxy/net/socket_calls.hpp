// The system calls that move bytes of a socket that does not block. A call that would have to wait
// fails with asio::error::would_block.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "proxy/net/asio.hpp"

namespace proxy::net {

// Whether the kernel may hold bytes back for a fraction of a second, because more follow at once.
enum class More : bool { no, yes };

// Receives at least one byte, unless `into` is empty. The end of the stream is asio::error::eof.
Result<std::size_t> receive(int socket, asio::mutable_buffer into);

// Bytes that the kernel sends by itself.
struct FilePart {
  int descriptor = -1;
  // The place in the open file. Nothing: the descriptor is a pipe, which gives its next bytes.
  std::optional<std::uint64_t> offset = 0;
  std::uint64_t size = 0;

  void skip(std::uint64_t sent) {
    if (offset) *offset += sent;
    size -= sent;
  }
};

// Sends the bytes after the first `skip`. The kernel takes at most 64 buffers at once.
Result<std::size_t> send(int socket, std::span<const asio::const_buffer> buffers, std::size_t skip,
                         More more = More::no);

// sendfile(2), or splice(2) from a pipe that is not empty. Zero: the file ends before the part.
Result<std::size_t> send_file(int socket, const FilePart& part);

// splice(2) into an empty pipe. The end of the stream is asio::error::eof.
Result<std::size_t> receive_into_pipe(int socket, int pipe, std::size_t most);

// Bytes that the other side has acknowledged since the connection began (TCP_INFO). Nothing if the
// system cannot tell.
std::optional<std::uint64_t> acknowledged(int socket);

// Makes the connection end with a reset instead of in an orderly way.
void reset_on_close(int socket);

}  // namespace proxy::net
