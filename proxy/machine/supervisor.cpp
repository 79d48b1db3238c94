#include "proxy/machine/supervisor.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "proxy/machine/folders.hpp"

namespace proxy::machine {
namespace {

// Of a variable; 0 if it has no number.
std::uint64_t number_in(const char* variable) {
  const char* const text = std::getenv(variable);
  std::uint64_t number = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), number);
  return number;
}

std::optional<std::chrono::microseconds> watchdog_of_environment() {
  const auto process = number_in("WATCHDOG_PID");
  if (process != 0 && process != static_cast<std::uint64_t>(::getpid())) return std::nullopt;
  const auto every = number_in("WATCHDOG_USEC");
  if (every == 0) return std::nullopt;
  return std::chrono::microseconds(every);
}

std::uint64_t monotonic_microseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 1'000;
}

}  // namespace

Supervisor Supervisor::of_environment() {
  own_service();
  return Supervisor(std::getenv("NOTIFY_SOCKET"));
}

// A path that begins with @ is a name in the abstract name space, without that character.
Supervisor::Supervisor(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const auto length = path != nullptr ? std::strlen(path) : 0;
  if (length < 2 || length >= sizeof address.sun_path) return;
  std::memcpy(address.sun_path, path, length);
  if (path[0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.number(), reinterpret_cast<const sockaddr*>(&address), size) != 0) return;
  socket_ = std::move(socket);
  watchdog_ = watchdog_of_environment();
}

void Supervisor::send(std::string_view state) const {
  if (!socket_) return;
  ::send(socket_.number(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Supervisor::serving() const {
  send("READY=1\nMAINPID=" + std::to_string(::getpid()) + "\nSTATUS=Serving");
}

void Supervisor::reloading() const {
  send("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(monotonic_microseconds()));
}

void Supervisor::reloaded() const {
  send("READY=1");
}

void Supervisor::stopping() const {
  send("STOPPING=1\nSTATUS=Waiting for responses under way");
}

void Supervisor::alive() const {
  send("WATCHDOG=1");
}

}  // namespace proxy::machine
