// Hands the listening sockets, and then the disk, to a newly started program, or takes them over.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <functional>
#include <vector>

#include "proxy/machine/channel.hpp"
#include "proxy/machine/launcher.hpp"
#include "proxy/net/asio.hpp"
#include "proxy/server/control_socket.hpp"
#include "proxy/server/listener.hpp"
#include "proxy/server/worker.hpp"

namespace proxy::server {

// The sockets for clients, and the control socket for operators of this machine.
struct Sockets {
  Listeners& listeners;
  ControlSocket& control;
};

// The program is started with the arguments of this process. Both processes have the same sockets,
// so no connection is refused or waits: this process serves until the new one does. If the new one
// ends before that, or does not serve in time, this process takes the disk back and goes on
// serving. For the main thread.
class HandOver {
 public:
  struct Steps {
    // Ends writing to the disk; what is found there may be read. Returns whether the disk answered.
    std::function<bool()> release_disk;
    std::function<void()> take_disk_back;  // after release_disk
    std::function<void()> end;             // the successor serves: leave, and end
    // How long a program may take until it serves: the disk rests meanwhile.
    std::chrono::seconds longest{60};
  };

  // All references outlive this object.
  HandOver(net::asio::io_context& io, Sockets sockets,
           const machine::succession::Launcher& launcher, machine::succession::Successor& successor,
           Steps steps);

  // Says in the log when the launcher ends, after which begin() starts nothing.
  void watch_launcher();
  // Starts the program. Does nothing if one that was started before serves, or has yet to; nor in a
  // container whose first process this is, since all others end with it.
  void begin();
  // Ends the program that is about to take over, because this process ends. Does nothing if there
  // is none.
  void cancel();
  // Whether a successor serves.
  [[nodiscard]] bool is_done() const { return state_ == State::done; }

 private:
  [[nodiscard]] std::vector<machine::succession::Launcher::Socket> inheritance() const;
  void await_messages();
  void apply(const machine::succession::Message& message);
  void give_up();
  void fail();

  const Sockets sockets_;
  const machine::succession::Launcher& launcher_;
  machine::succession::Successor& successor_;
  const Steps steps_;
  enum class State { idle, under_way, cancelled, done };
  State state_ = State::idle;
  bool released_ = false;  // the disk
  net::Timer deadline_;
  net::asio::posix::stream_descriptor launcher_end_;
  // Stays open after a failure, since a thread may be about to write to it.
  net::asio::posix::stream_descriptor channel_;
};

// Carries out here, too, what the predecessor purges and invalidates while it still runs: we may
// have read those responses from the disk already. For the main thread.
class TakeOver {
 public:
  // `worker` applies the predecessor's purges and invalidations to the cache. The arguments outlive
  // this object.
  TakeOver(net::asio::io_context& io, machine::succession::Predecessor& predecessor, Worker& worker)
      : predecessor_(predecessor), worker_(worker), readable_(io) {}

  // Tells the predecessor that we serve, and begins to carry out its purges. Call this once the
  // workers accept connections. Does nothing if there is no predecessor. Throws std::runtime_error
  // if the predecessor has waited too long, and goes on serving.
  void begin();
  // Whether there is one, which has not ended yet.
  [[nodiscard]] bool has_predecessor() const { return readable_.is_open(); }

 private:
  void await_orders();
  void obey_all();

  machine::succession::Predecessor& predecessor_;
  Worker& worker_;
  net::asio::posix::stream_descriptor readable_;
};

}  // namespace proxy::server
