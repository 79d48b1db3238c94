// systemd: what we tell the service manager that started us (sd_notify(3)), and how it would run
// the service hearsay.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/machine/clock.hpp"
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
  void reloading(Clock::SteadyTime now) const;
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

// The service hearsay as systemd would run it.
struct ServiceUnit {
  struct Folder {
    std::filesystem::path path;  // with everything below it, but for the folders below
    bool is_writable = false;    // for a user that the files themselves allow it
    bool is_made = false;        // before each start, for the user of the service
  };

  std::string name = "hearsay.service";
  std::string user;             // as whom it starts
  std::string settings;         // the file that its command names; empty: none
  std::vector<Folder> folders;  // beside these, everything is writable
  bool has_socket = false;      // hearsay.socket listens in its place
  bool may_bind_any = false;    // also ports below 1024

  // Whether it starts a proxy with this settings file.
  [[nodiscard]] bool serves_by(const std::filesystem::path& settings_file) const;
  // The innermost folder around the path; null: there is none.
  [[nodiscard]] const Folder* folder_around(const std::filesystem::path& path) const;
  // Whether systemd lets the service write there.
  [[nodiscard]] bool lets_write(const std::filesystem::path& path) const;
  // Whether the path is a folder that systemd makes for the service, or is directly in one.
  [[nodiscard]] bool makes(const std::filesystem::path& path) const;
};

// The unit in the answer of `systemctl show hearsay.service`; nothing if none is installed. Pure.
std::optional<ServiceUnit> parse_unit(std::string_view shown);

// Asks systemd for the unit, drop-ins included. Nothing if systemd does not run, or knows no such
// unit. Blocks for 5 s at most.
std::optional<ServiceUnit> service_unit();

}  // namespace proxy::machine
