#include "proxy/server/control_socket.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "config/load.hpp"
#include "proxy/machine/launcher.hpp"
#include "proxy/machine/places.hpp"

namespace proxy::server {
namespace {

namespace fs = std::filesystem;

// Whoever may connect is an operator, so the socket is for the proxy's user and group alone.
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

// The file gets its mode from the socket (unix(7)). No chmod follows, whose path may by then lead
// elsewhere.
bool bind_for_group(int socket, const sockaddr_un& address) {
  ::fchmod(socket, kMode);
  const mode_t before = ::umask(0);
  const bool is_bound =
      ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int cause = errno;
  ::umask(before);
  errno = cause;
  return is_bound;
}

// While the walk lives, the process has no more rights than are safe in the folder.
std::unique_ptr<machine::Walk> walk_to(const fs::path& file, const machine::Account& owner) {
  try {
    return std::make_unique<machine::Walk>(file.parent_path(), owner, machine::Missing::make);
  } catch (const std::runtime_error& error) {
    fail(file, error.what());
  }
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
  if (inherit(settings.process.control.value_or(config::kDefaultControl))) return;
  // With an owner, the folder may be missing: listen() makes it.
  const auto path = owner ? settings.process.control.value_or(config::kDefaultControl)
                          : config::control_path(settings);
  if (path.empty()) return;
  try {
    listen(path, owner);
  } catch (const std::runtime_error& error) {
    // A proxy serves without a socket at the default place. A place that the settings name is an
    // order.
    if (settings.process.control) throw;
    spdlog::warn("{}", error.what());
  }
}

void ControlSocket::remove_file() {
  // By now the path may lead to the socket of another proxy, which must stay.
  if (std::exchange(removes_file_, false) && inode_of(path_) == inode_) ::unlink(path_.c_str());
}

bool ControlSocket::inherit(const std::string& path) {
  for (const auto& socket : machine::succession::inherited_sockets()) {
    if (socket.name != machine::succession::kControlSocket) continue;
    machine::Descriptor inherited(socket.descriptor);
    if (!path.empty() && is_bound_to(inherited.number(), path)) {
      adopt(std::move(inherited), path);
    } else {
      has_declined_ = true;
    }
  }
  return descriptor_ >= 0;
}

void ControlSocket::listen(const std::string& path, const std::optional<machine::Account>& owner) {
  const auto address = address_of(path);
  const fs::path file = fs::absolute(path);
  const auto walk = owner ? walk_to(file, *owner) : nullptr;
  clear(path, address);
  machine::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const bool listens = socket && bind_for_group(socket.number(), address) &&
                       ::listen(socket.number(), SOMAXCONN) == 0;
  if (!listens) fail(path, errno);
  if (walk && walk->is_roots()) machine::give_socket(walk->folder(), file.filename(), *owner);
  adopt(std::move(socket), path);
  removes_file_ = true;
}

void ControlSocket::adopt(machine::Descriptor socket, const std::string& path) {
  descriptor_ = socket.number();
  owned_ = std::move(socket);
  path_ = path;
  inode_ = inode_of(path);
}

std::shared_ptr<net::LocalAcceptor> ControlSocket::acceptor(net::Executor executor) {
  if (descriptor_ < 0) return nullptr;
  auto acceptor = std::make_shared<net::LocalAcceptor>(
      executor, net::asio::local::stream_protocol(), owned_.release());
  acceptor_ = acceptor;
  removes_file_ = true;
  return acceptor;
}

void ControlSocket::leave() {
  if (heir_ == Heir::successor) removes_file_ = false;
  remove_file();
  const auto acceptor = acceptor_.lock();
  if (!acceptor) return;
  // Only the thread of its executor may touch an acceptor.
  net::asio::post(acceptor->get_executor(), [acceptor] {
    net::error_code ignored;
    acceptor->close(ignored);
  });
}

}  // namespace proxy::server
