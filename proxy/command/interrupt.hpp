// SIGINT and SIGTERM as an end of what is read, so that the work done by then is kept and told.
#pragma once

#include <csignal>

namespace proxy::command {

// While this lives, the first of them only ends the waiting; the same again ends the process, as
// always. One that the process ignores (nohup) stays ignored. There may be one of these at a time.
// Throws std::system_error.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  // Waits until the descriptor has bytes, an end or an error to read; false if a signal came.
  bool await_readable(int descriptor) const;

  // The one that came, or 0.
  int signal() const;

 private:
  int wake_;
  struct sigaction before_int_;
  struct sigaction before_term_;
};

}  // namespace proxy::command
