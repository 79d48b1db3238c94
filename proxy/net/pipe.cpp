#include "proxy/net/pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace proxy::net {

std::unique_ptr<Pipe> Pipe::make() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC) != 0) return nullptr;
  // A user without privileges may have less. A smaller pipe needs more calls for the same bytes.
  ::fcntl(ends[1], F_SETPIPE_SZ, static_cast<int>(kMost));
  return std::unique_ptr<Pipe>(new Pipe(ends[1], ends[0]));
}

Task<Result<std::size_t>> Pipe::read_from(Stream& from, std::size_t most) {
  const auto moved = co_await from.read_into_pipe(in_.number(), std::min(most, kMost));
  if (moved) held_ += *moved;
  co_return moved;
}

}  // namespace proxy::net
