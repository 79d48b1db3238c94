// The system calls that move bytes of a socket that does not block. A call that would have to wait
// fails with asio::error::would_block.
#pragma once

#include <span>

#include "proxy/net/asio.hpp"
#include "proxy/net/file_part.hpp"

namespace proxy::net {

// Whether the kernel may hold bytes back for a fraction of a second, because more follow at once.
enum class More : bool { no, yes };

// At least one byte, unless `into` is empty. The end of the stream is asio::error::eof.
Result<std::size_t> receive(int socket, asio::mutable_buffer into);

// Sends the bytes after the first `skip`. The kernel takes at most 64 buffers at once.
Result<std::size_t> send(int socket, std::span<const asio::const_buffer> buffers, std::size_t skip,
                         More more = More::no);

// sendfile(2), or splice(2) from a pipe that is not empty. Zero: the file ends before the part.
Result<std::size_t> send_file(int socket, const FilePart& part);

// splice(2) into an empty pipe. The end of the stream is asio::error::eof.
Result<std::size_t> receive_into_pipe(int socket, int pipe, std::size_t most);

}  // namespace proxy::net
