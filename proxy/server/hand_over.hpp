// Hands the listening sockets, and then the disk, to a newly started program.
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

namespace proxy {

// The program is started with the arguments of this process. Both processes have the same sockets,
// so no connection is refused or waits: this one serves until the other one does. If the other one
// ends before that, or does not serve in time, this one takes the disk back and goes on. For the
// main thread.
class HandOver {
 public:
  struct Steps {
    // Ends writing to the disk; what is found there may be read. Returns whether the disk answered.
    std::function<bool()> release_disk;
    std::function<void()> take_disk_back;  // after release_disk
    std::function<void()> end;             // the successor serves: leave, and end
  };
  struct Inheritance {
    const Listeners& listeners;
    ControlSocket& control;
  };
  // So long a program may take until it serves: the disk rests meanwhile.
  static constexpr std::chrono::seconds kLongest{60};

  // All outlive this object.
  HandOver(net::asio::io_context& io, Inheritance inheritance, const succession::Launcher& launcher,
           succession::Successor& successor, Steps steps, std::chrono::seconds longest = kLongest);

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
  [[nodiscard]] std::vector<succession::Launcher::Socket> sockets() const;
  void await_messages();
  void heed(const succession::Message& message);
  void give_up();
  void fail();

  const Inheritance inheritance_;
  const succession::Launcher& launcher_;
  succession::Successor& successor_;
  const Steps steps_;
  const std::chrono::seconds longest_;
  enum class State { idle, under_way, cancelled, done };
  State state_ = State::idle;
  bool released_ = false;  // the disk
  net::Timer deadline_;
  net::asio::posix::stream_descriptor launcher_end_;
  // Stays open after a failure, since a thread may be about to write to it.
  net::asio::posix::stream_descriptor channel_;
};

}  // namespace proxy
