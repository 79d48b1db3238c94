#include "proxy/machine/descriptor.hpp"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace proxy::machine {

std::optional<sockaddr_un> local_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return std::nullopt;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

bool somebody_listens(const sockaddr_un& address) {
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return true;  // nobody knows
  const auto* const name = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket.number(), name, sizeof address) == 0) return true;
  return errno != ECONNREFUSED && errno != ENOENT;
}

}  // namespace proxy::machine
