// The Unix socket by which operators of this machine reach the proxy's own pages.
#pragma once

#include <sys/types.h>

#include <boost/core/noncopyable.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "config/settings.hpp"
#include "proxy/machine/descriptor.hpp"
#include "proxy/machine/privileges.hpp"
#include "proxy/net/asio.hpp"

namespace proxy::server {

// Listens at config::control_path(). Whoever may open the file has the rights of an admin, so its
// mode is 0660: owner and group. The file is removed at the end, as far as the sandbox allows.
class ControlSocket : boost::noncopyable {
 public:
  // Call this before the sandbox is entered, which lets no socket listen, and before root's rights
  // are given up: the folder may be root's alone. If an owner is given, the file is the owner's,
  // and so is a folder that had to be made (machine/places.hpp). Takes the socket that our
  // predecessor passes (machine/launcher.hpp) if the path is the same. Else it replaces the
  // file that a dead proxy has left. If there is no such setting, and another proxy has the default
  // path, warns and listens nowhere. Throws std::runtime_error with a text for a person if a path
  // of the settings cannot be listened at: another proxy does, or something else is there.
  explicit ControlSocket(const config::Settings& settings,
                         const std::optional<machine::Account>& owner = {});
  ~ControlSocket() { remove_file(); }

  // The path of the socket. Empty: it listens nowhere.
  [[nodiscard]] const std::string& path() const { return path_; }
  // The descriptor for a successor, open until the acceptor is closed. -1: the socket listens
  // nowhere.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  // The acceptor, which owns the descriptor. Call this once, when our predecessor leaves: the file
  // is ours from now on. Null: it listens nowhere.
  std::shared_ptr<net::LocalAcceptor> acceptor(net::Executor executor);
  // Closes the acceptor soon. A successor has the socket, and its file, unless it has declined.
  void leave();
  // Whether our predecessor had a socket that ours does not replace: nobody listens there once it
  // has left.
  [[nodiscard]] bool has_declined() const { return has_declined_; }
  // Who takes the file over when this process leaves. Until this is called, a successor does.
  enum class Heir : std::uint8_t { successor, nobody };
  void leave_file_to(Heir heir) { heir_ = heir; }

 private:
  // Returns whether our predecessor had a socket there.
  bool inherit(const std::string& path);
  void adopt(machine::Descriptor socket, const std::string& path);
  void remove_file();
  void listen(const std::string& path, const std::optional<machine::Account>& owner);

  std::string path_;
  int descriptor_ = -1;
  machine::Descriptor owned_;  // the same, until the acceptor owns it
  bool removes_file_ = false;  // at the end
  ino_t inode_ = 0;            // of the file, which another proxy may have replaced
  std::weak_ptr<net::LocalAcceptor> acceptor_;
  bool has_declined_ = false;
  Heir heir_ = Heir::successor;
};

}  // namespace proxy::server
