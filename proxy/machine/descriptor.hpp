// Descriptors with their owner; and Unix sockets by their paths.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "digest/descriptor.hpp"

namespace proxy::machine {

using digest::Descriptor;

// The address of the path; nothing if no socket can have so long a path.
inline std::optional<sockaddr_un> local_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// Whether a process listens at the address. A listener whose queue is full counts. A path that we
// may not connect to counts, too, since a process may listen there.
inline bool somebody_listens(const sockaddr_un& address) {
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return true;  // nobody knows
  const auto* const name = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket.number(), name, sizeof address) == 0) return true;
  return errno != ECONNREFUSED && errno != ENOENT;
}

}  // namespace proxy::machine
