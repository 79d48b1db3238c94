// Hands the listening sockets, and then the disk, to a newly started program.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>

#include "proxy/net/asio.hpp"
#include "proxy/server/listener.hpp"
#include "proxy/succession/launcher.hpp"
#include "proxy/succession/successor.hpp"

namespace proxy {

// The program is started with the arguments of this process. Both processes have the same sockets,
// so no connection is refused or waits: this one serves until the other one does. If the other one
// ends before that, this one takes the disk back and goes on. For the main thread.
class HandOver {
 public:
  struct Steps {
    // Ends writing to the disk; what is found there may be read. Returns whether the disk answered.
    std::function<bool()> release_disk;
    std::function<void()> take_disk_back;  // after release_disk
    std::function<void()> end;             // the successor serves: leave, and end
  };
  // All outlive this object.
  HandOver(net::asio::io_context& io, const Listeners& listeners,
           const succession::Launcher& launcher, succession::Successor& successor, Steps steps);

  // Starts the program. Does nothing if one that was started before serves, or has yet to.
  void begin();
  // Whether a successor serves.
  [[nodiscard]] bool is_done() const { return state_ == State::done; }

 private:
  void await_messages();
  void heed(const succession::Message& message);
  void fail();

  const Listeners& listeners_;
  const succession::Launcher& launcher_;
  succession::Successor& successor_;
  const Steps steps_;
  enum class State { idle, under_way, done };
  State state_ = State::idle;
  bool released_ = false;  // the disk
  // Stays open after a failure, since a thread may be about to write to it.
  net::asio::posix::stream_descriptor channel_;
};

}  // namespace proxy
