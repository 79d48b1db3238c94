// Turns SIGINT and SIGTERM into an end of the input, so that the work done so far is kept and
// reported.
#pragma once

#include <boost/core/noncopyable.hpp>
#include <chrono>
#include <csignal>
#include <cstdint>

#include "proxy/machine/descriptor.hpp"

namespace proxy::command {

enum class Readiness : std::uint8_t { readable, over, interrupted, unread };

// While an Interrupt lives, the first SIGINT or SIGTERM only ends await_readable() and
// await_for(). A second signal of the same kind ends the process as usual. A signal that the
// process ignored before (nohup) stays ignored. At most one Interrupt may live at a time. The
// constructor throws std::system_error.
class Interrupt : boost::noncopyable {
 public:
  Interrupt();
  ~Interrupt();

  // Waits until the descriptor has bytes, an end or an error to read, or a signal has arrived.
  Readiness await_readable(int descriptor) const;

  // Waits until the time is over, a signal has arrived, or nobody reads the pipe or the terminal
  // `output` any more.
  Readiness await_for(std::chrono::milliseconds time, int output) const;

  // The number of the signal that has arrived, or 0.
  int signal() const;

 private:
  const machine::Descriptor wake_;
  struct sigaction before_int_;
  struct sigaction before_term_;
};

}  // namespace proxy::command
