// The Unix socket by which operators of this machine reach the proxy's own pages.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "config/settings.hpp"
#include "proxy/net/asio.hpp"

namespace proxy {

// Listens at config::control_path(). Whoever may open the file has the rights of an admin, so its
// mode is 0660: owner and group. The file is removed at the end, as far as the sandbox allows.
class ControlSocket {
 public:
  // Call this before the sandbox is entered, which lets no socket listen. Replaces the file that a
  // dead proxy has left, and the one of the proxy from which this one takes over (`takes_over`). If
  // there is no such setting, and another proxy has the default path, warns and listens nowhere.
  // Throws std::runtime_error with a text for a person if a path of the settings cannot be listened
  // at: another proxy does, or something else is there.
  explicit ControlSocket(const config::Settings& settings, bool takes_over = false);
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  // Empty: it listens nowhere.
  [[nodiscard]] const std::string& path() const { return path_; }
  // The acceptor, which owns the descriptor. Call this once. Nothing: it listens nowhere.
  std::optional<net::LocalAcceptor> acceptor(net::Executor executor);

 private:
  void listen(const std::string& path, bool takes_over);

  std::string path_;
  int descriptor_ = -1;
  ino_t inode_ = 0;  // of the file, which another proxy may have replaced
};

}  // namespace proxy
