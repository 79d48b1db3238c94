#include "proxy/server/control_socket.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "config/control.hpp"

namespace proxy {
namespace {

constexpr mode_t kMode = 0660;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw std::runtime_error("control: cannot listen at " + path + ": " + why);
}

[[noreturn]] void fail(const std::string& path, int cause) {
  fail(path, std::system_category().message(cause));
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    fail(path, "the path of a socket has at most 107 bytes");
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

int open_socket(const std::string& path) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) fail(path, errno);
  return fd;
}

template <class Call>
int call_with(const sockaddr_un& address, int fd, Call call) {
  return call(fd, reinterpret_cast<const sockaddr*>(&address), socklen_t{sizeof address});
}

// Whether a process listens there. A full queue (EAGAIN) is a listener's, too.
bool is_alive(const std::string& path, const sockaddr_un& address) {
  const int fd = open_socket(path);
  const bool refused = call_with(address, fd, ::connect) != 0 && errno == ECONNREFUSED;
  ::close(fd);
  return !refused;
}

// Removes a socket that nobody listens at any more, or that is taken over. Throws if the path is
// taken.
void clear(const std::string& path, const sockaddr_un& address, bool takes_over) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return;
  if (!S_ISSOCK(status.st_mode)) fail(path, "a file that is no socket is there");
  if (!takes_over && is_alive(path, address)) {
    fail(path,
         "another proxy listens there; give this one another path (setting control), or \"none\"");
  }
  if (::unlink(path.c_str()) != 0) fail(path, errno);
}

}  // namespace

ControlSocket::ControlSocket(const config::Settings& settings, bool takes_over) {
  const auto path = config::control_path(settings);
  if (path.empty()) return;
  try {
    listen(path, takes_over);
  } catch (const std::runtime_error& error) {
    if (settings.control) throw;
    spdlog::warn("{}", error.what());
  }
}

ControlSocket::~ControlSocket() {
  if (descriptor_ >= 0) ::close(descriptor_);
  struct stat status {};
  const bool there = !path_.empty() && ::lstat(path_.c_str(), &status) == 0;
  if (there && status.st_ino == inode_) ::unlink(path_.c_str());
}

void ControlSocket::listen(const std::string& path, bool takes_over) {
  const auto address = address_of(path);
  clear(path, address, takes_over);
  descriptor_ = open_socket(path);
  // The file gets its mode from the socket (unix(7)), so at no time may others open it.
  ::fchmod(descriptor_, kMode);
  const bool listens = call_with(address, descriptor_, ::bind) == 0 &&
                       ::chmod(path.c_str(), kMode) == 0 && ::listen(descriptor_, SOMAXCONN) == 0;
  if (!listens) {
    const int cause = errno;
    ::close(std::exchange(descriptor_, -1));
    fail(path, cause);
  }
  path_ = path;
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0) inode_ = status.st_ino;
}

std::optional<net::LocalAcceptor> ControlSocket::acceptor(net::Executor executor) {
  if (descriptor_ < 0) return std::nullopt;
  return net::LocalAcceptor(executor, net::asio::local::stream_protocol(),
                            std::exchange(descriptor_, -1));
}

}  // namespace proxy
