// The real program on loopback, with settings, logs and a life of its own.
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

// The path of the program that this build made.
std::string hearsay_program();

// These settings with one peer, on that port of loopback.
json with_peer(std::string_view name, std::uint16_t port, json settings = json::object());

// `hearsay serve` from the moment it listens until the end of the object. The settings are laid
// over those for tests: a port of the system's choice on 127.0.0.1, origins on loopback allowed,
// the access log in Squid's format in a file, quick digests.
class ProxyProcess {
 public:
  // Throws with what the program said if it does not come to listen.
  explicit ProxyProcess(const json& settings = json::object());
  // Serves on a socket that is bound already, so that a neighbour could be told its port before.
  ProxyProcess(const json& settings, const Listener& listener);

  std::uint16_t port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url() const { return "http://" + address(); }

  // One of the proxy's own pages, by a connection of its own.
  Response page(std::string_view path, const Fields& fields = {}) const;
  // /digest; and that part of it which is about the peer of this name.
  json digest() const;
  json digest_peer(std::string_view name) const;
  // A sample of /metrics by its name and labels as printed; 0 if it is not there.
  double metric(std::string_view name) const;

  std::filesystem::path access_log_path() const { return directory_ / "access.log"; }
  std::vector<LogLine> access_log() const;
  // Waits until the log has a line about the URL and returns the last; throws if there comes none.
  LogLine logged(std::string_view url) const;

  ChildProcess& process() { return *process_; }
  // SIGTERM, and the exit code once it has ended.
  int terminate(std::chrono::milliseconds limit = kPatience + std::chrono::seconds(5));
  std::uint64_t resident_bytes() const;
  // Without what files have, such as the program: what it has allocated, mostly.
  std::uint64_t anonymous_bytes() const;

 private:
  void start(const json& settings, const std::vector<int>& sockets);
  std::uint64_t memory(std::string_view line) const;  // of /proc/PID/status

  TemporaryDirectory directory_;
  std::unique_ptr<ChildProcess> process_;
  std::uint16_t port_ = 0;
};

// A settings file for tests with these laid over it, for runs that need no ProxyProcess.
json settings_for_tests(const std::filesystem::path& access_log);
Command serve_command(const std::filesystem::path& settings_file);

}  // namespace support
