// The sockets that systemd or the predecessor has passed to this process.
#pragma once

#include <string>
#include <vector>

namespace proxy::succession {

// The names (LISTEN_FDNAMES) of sockets that a predecessor had opened for the settings "listen" and
// "control".
inline constexpr const char* kOwnSockets = "hearsay-listen";
inline constexpr const char* kControlSocket = "hearsay-control";

inline constexpr int kFirstInherited = 3;  // sd_listen_fds(3)

struct Inherited {
  int descriptor = -1;
  std::string name;  // empty: none was given
};

// By the environment: see sd_listen_fds(3). Sees to it that no other program inherits them. For the
// main thread; each call returns the same.
std::vector<Inherited> inherited_sockets();

}  // namespace proxy::succession
