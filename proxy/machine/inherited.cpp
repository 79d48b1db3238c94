#include "proxy/machine/inherited.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace proxy::succession {
namespace {

// The number in LISTEN_FDS if it is meant for this process.
int inherited_count() {
  const char* const pid = std::getenv("LISTEN_PID");
  const char* const count = std::getenv("LISTEN_FDS");
  if (pid == nullptr || count == nullptr || std::atol(pid) != ::getpid()) return 0;
  return std::atoi(count);
}

}  // namespace

std::vector<Inherited> inherited_sockets() {
  const char* const names = std::getenv("LISTEN_FDNAMES");
  std::istringstream in(names == nullptr ? "" : names);
  std::vector<Inherited> sockets;
  for (int i = 0; i < inherited_count(); ++i) {
    auto& socket = sockets.emplace_back(Inherited{kFirstInherited + i, {}});
    std::getline(in, socket.name, ':');
    ::fcntl(socket.descriptor, F_SETFD, FD_CLOEXEC);
  }
  return sockets;
}

}  // namespace proxy::succession
