// Starts the program anew, for a process that is confined and may start no program itself. And what
// a program inherits that was started so, or by systemd.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "proxy/machine/channel.hpp"

namespace proxy::machine::succession {

// The names (LISTEN_FDNAMES) of sockets that a predecessor had opened for the settings "listen" and
// "control".
inline constexpr const char* kOwnSockets = "hearsay-listen";
inline constexpr const char* kControlSocket = "hearsay-control";

inline constexpr int kFirstInherited = 3;  // sd_listen_fds(3)

struct Inherited {
  int descriptor = -1;
  std::string name;  // empty: none was given
};

// The sockets that systemd or the predecessor has passed to this process (sd_listen_fds(3)). Sees
// to it that no other program inherits them. For the main thread; each call returns the same.
std::vector<Inherited> inherited_sockets();

// The variable of the environment that tells a successor its end of the channel.
inline constexpr const char* kChannelVariable = "HEARSAY_PREDECESSOR";

// A process of its own, named hearsay-launch, which waits for orders and ends with this one. It
// ignores the signals by which a proxy is ordered, as a terminal sends them to both. But while a
// program that it has started takes over, it passes SIGTERM and SIGINT on to that program and to
// this process, as SIGTERM, so that both end. It inherits the arguments, the environment and the
// user of the time at which it was made, and nothing else: so an attacker who takes over the
// confined process can start the installed program with the same arguments, and no other.
class Launcher {
 public:
  // Forks. Call this while the process has one thread, after it has given up its privileges and
  // before it is confined. `arguments` of main(). If the fork fails, launch() returns nothing.
  explicit Launcher(char* const* arguments);

  struct Socket {
    int descriptor;
    const char* name;
  };
  // Starts the file that the first argument names by now. The program inherits the sockets and
  // their names as LISTEN_FDS. Returns our end of the channel to it,
  // which is closed once the program ends; nothing if it could not be ordered.
  [[nodiscard]] Descriptor launch(std::span<const Socket> sockets) const;

  // Both are about the program that launch() has started last. The first orders it to end
  // (SIGTERM). The second says that it has taken over: no signal is passed on to it any more.
  void end_launched() const { send(orders_.number(), MessageKind::end); }
  void release_launched() const { send(orders_.number(), MessageKind::order); }

  // Whether the process could not be made, or has been killed.
  [[nodiscard]] bool has_ended() const;
  // The descriptor of our channel to the launcher. It is readable once the launcher has ended. -1:
  // there is no launcher.
  [[nodiscard]] int channel() const { return orders_.number(); }

 private:
  Descriptor orders_;
};

}  // namespace proxy::machine::succession
