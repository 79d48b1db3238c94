// The real program on loopback, with its own settings and logs.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/access_log.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/client.hpp"
#include "tests/support/message.hpp"
#include "tests/support/socket.hpp"

namespace support {

using nlohmann::json;

// The path of the program under test: that of this build, unless the environment names another one
// in HEARSAY_PROGRAM. HEARSAY_SANITIZED says that the other one is built with a sanitizer.
std::string hearsay_program();

// These settings with one peer added, at this port of 127.0.0.1.
json with_peer(std::string_view name, std::uint16_t port, json settings = json::object());

// `hearsay serve`, listening when the constructor returns and ended by the destructor. The settings
// are merged into those for tests: a port of 127.0.0.1 that the system chooses, origins on loopback
// allowed, the access log in Squid's format in a file, short digest intervals, neighbours preferred
// however slow they are, what they give stored at once, no checks of neighbours.
class ProxyProcess {
 public:
  // Throws what the program wrote to stderr if it does not listen in time.
  explicit ProxyProcess(const json& settings = json::object());
  // Serves on the listener's socket, so that a neighbour's settings can name the port before.
  ProxyProcess(const json& settings, const Listener& listener);

  std::uint16_t port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url() const { return "http://" + address(); }

  // One of the proxy's own pages, over a new connection.
  Response page(std::string_view path, const Fields& fields = {}, std::string_view method = "GET",
                std::string_view body = {}) const;
  // The page /digest, and its part about the peer of this name.
  json digest() const;
  json digest_peer(std::string_view name) const;
  // A sample of /metrics by its name and labels as printed; 0 if there is none.
  double metric(std::string_view name) const;

  std::filesystem::path settings_file() const { return directory_ / "settings.json"; }
  std::filesystem::path access_log_path() const { return directory_ / "access.log"; }
  std::vector<LogLine> access_log() const;
  // Waits for a line of the log about the URL and returns the last one. Throws TimedOut if there is
  // none after kPatience.
  LogLine logged(std::string_view url) const;

  ChildProcess& process() { return *process_; }
  // Writes these settings, merged into those for tests, over the settings file.
  void write_settings(const json& settings) const;
  // Writes settings as write_settings() does, or any text. Both send SIGHUP, and wait until the
  // proxy has said so often that it has reloaded, or has not.
  void reload(const json& settings);
  void reload_text(std::string_view text);
  // Sends SIGTERM, waits for the end, and returns the exit code.
  int terminate(std::chrono::milliseconds limit = kPatience + std::chrono::seconds(5));
  std::uint64_t resident_bytes() const;
  // Resident bytes without mapped files such as the program: what it has allocated, mostly.
  std::uint64_t anonymous_bytes() const;

 private:
  void start(const json& settings, const std::vector<int>& sockets);
  std::uint64_t memory(std::string_view line) const;  // of /proc/PID/status

  TemporaryDirectory directory_;
  std::unique_ptr<ChildProcess> process_;
  std::uint16_t port_ = 0;
  std::size_t reloads_ = 0;
};

// The settings for tests, and the command that serves by a file, for runs without a ProxyProcess.
json settings_for_tests(const std::filesystem::path& access_log);
Command serve_command(const std::filesystem::path& settings_file);

}  // namespace support
