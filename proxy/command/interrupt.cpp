#include "proxy/command/interrupt.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>

namespace proxy::command {
namespace {

std::atomic<int> arrived{0};
std::atomic<int> wake_descriptor{-1};
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_signal(int number) {
  const int error = errno;
  arrived = number;
  // A poll() that begins later still sees the event: no signal is lost between test and wait.
  ::eventfd_write(wake_descriptor, 1);
  errno = error;
}

// Without SA_RESTART. The handler runs once: a second signal ends the process.
struct sigaction catch_once(int number) {
  struct sigaction before {};
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(number, nullptr, &before);
  // A shell has what it runs in the background ignore SIGINT: Ctrl-C is for another program.
  if (before.sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);
  return before;
}

}  // namespace

Interrupt::Interrupt() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!wake_) throw std::system_error(errno, std::generic_category(), "eventfd");
  arrived = 0;
  // Before the handlers, which write to it.
  wake_descriptor = wake_.number();
  before_int_ = catch_once(SIGINT);
  before_term_ = catch_once(SIGTERM);
}

Interrupt::~Interrupt() {
  // First the handlers: later, they would write to a descriptor that is closed.
  ::sigaction(SIGINT, &before_int_, nullptr);
  ::sigaction(SIGTERM, &before_term_, nullptr);
  wake_descriptor = -1;
}

Readiness Interrupt::await_readable(int descriptor) const {
  std::array<pollfd, 2> either{{{descriptor, POLLIN, 0}, {wake_.number(), POLLIN, 0}}};
  while (::poll(either.data(), either.size(), -1) < 0 && errno == EINTR) {
  }
  return signal() == 0 ? Readiness::readable : Readiness::interrupted;
}

// A signal that arrived meanwhile is in the event, so poll() may begin anew.
Readiness Interrupt::await_for(std::chrono::milliseconds time, int output) const {
  std::array<pollfd, 2> either{{{wake_.number(), POLLIN, 0}, {output, 0, 0}}};
  while (::poll(either.data(), either.size(), static_cast<int>(time.count())) < 0 &&
         errno == EINTR) {
  }
  if (signal() != 0) return Readiness::interrupted;
  return either[1].revents != 0 ? Readiness::unread : Readiness::over;
}

int Interrupt::signal() const {
  return arrived;
}

}  // namespace proxy::command
