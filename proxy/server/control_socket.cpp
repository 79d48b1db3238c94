#include "proxy/server/control_socket.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <utility>

#include "config/control.hpp"
#include "proxy/machine/local_socket.hpp"
#include "proxy/succession/inherited.hpp"

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
  const auto address = machine::local_address(path);
  if (!address) fail(path, "the path of a socket has at most 107 bytes");
  return *address;
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

// Removes a socket that nobody listens at any more. Throws if the path is taken.
void clear(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return;
  if (!S_ISSOCK(status.st_mode)) fail(path, "a file that is no socket is there");
  if (machine::somebody_listens(address)) {
    fail(path,
         "another proxy listens there; give this one another path (setting control), or \"none\"");
  }
  if (::unlink(path.c_str()) != 0) fail(path, errno);
}

// The file is missing if somebody has removed it: then nobody would find the socket.
bool is_bound_to(int socket, const std::string& path) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  const bool named = ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
                     address.sun_family == AF_UNIX;
  struct stat status {};
  return named && address.sun_path == path && ::lstat(path.c_str(), &status) == 0 &&
         S_ISSOCK(status.st_mode);
}

ino_t inode_of(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

}  // namespace

ControlSocket::ControlSocket(const config::Settings& settings,
                             const std::optional<machine::Account>& owner) {
  // Our predecessor may have made it as root, where we may make none.
  if (inherit(settings.control.value_or(config::kDefaultControl))) return;
  const auto path = config::control_path(settings);
  if (path.empty()) return;
  try {
    listen(path);
    if (owner) machine::give_socket(path, *owner);
  } catch (const std::runtime_error& error) {
    if (settings.control) throw;
    spdlog::warn("{}", error.what());
  }
}

ControlSocket::~ControlSocket() {
  if (descriptor_ >= 0 && !handed_out_) ::close(descriptor_);
  remove_file();
}

void ControlSocket::remove_file() {
  if (std::exchange(removes_file_, false) && inode_of(path_) == inode_) ::unlink(path_.c_str());
}

bool ControlSocket::inherit(const std::string& path) {
  for (const auto& socket : succession::inherited_sockets()) {
    if (socket.name != succession::kControlSocket) continue;
    if (!path.empty() && is_bound_to(socket.descriptor, path)) {
      descriptor_ = socket.descriptor;
      path_ = path;
      inode_ = inode_of(path);
    } else {
      ::close(socket.descriptor);
      has_declined_ = true;
    }
  }
  return descriptor_ >= 0;
}

void ControlSocket::listen(const std::string& path) {
  const auto address = address_of(path);
  clear(path, address);
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
  inode_ = inode_of(path);
  removes_file_ = true;
}

std::shared_ptr<net::LocalAcceptor> ControlSocket::acceptor(net::Executor executor) {
  if (descriptor_ < 0) return nullptr;
  auto acceptor = std::make_shared<net::LocalAcceptor>(
      executor, net::asio::local::stream_protocol(), descriptor_);
  acceptor_ = acceptor;
  handed_out_ = removes_file_ = true;
  return acceptor;
}

void ControlSocket::leave() {
  if (has_heir_) removes_file_ = false;
  remove_file();
  const auto acceptor = acceptor_.lock();
  if (!acceptor) return;
  net::asio::post(acceptor->get_executor(), [acceptor] {
    net::error_code ignored;
    acceptor->close(ignored);
  });
}

}  // namespace proxy
