// Tells the service manager that started us what we do (sd_notify(3)).
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "proxy/machine/descriptor.hpp"

namespace proxy::machine {

// libsystemd opens a socket for each message, which the sandbox forbids. Does nothing if the
// environment names no socket, and if the message cannot be sent. Any thread.
class Supervisor {
 public:
  // Connects to the socket that NOTIFY_SOCKET names. Call this before the sandbox.
  static Supervisor of_environment();

  // We serve, as the main process of the service.
  void serving() const;
  void reloading() const;
  void reloaded() const;
  void stopping() const;
  void alive() const;

  // How often alive() is to be called at least (WATCHDOG_USEC); nothing if it need not be.
  [[nodiscard]] std::optional<std::chrono::microseconds> watchdog() const { return watchdog_; }

 private:
  explicit Supervisor(const char* path);
  void send(std::string_view state) const;

  Descriptor socket_;
  std::optional<std::chrono::microseconds> watchdog_;
};

}  // namespace proxy::machine
