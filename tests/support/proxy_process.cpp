#include "tests/support/proxy_process.hpp"

#include <signal.h>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include "tests/support/await.hpp"

namespace support {
namespace {

constexpr std::string_view kListening = "listening on ";

// The port in "listening on ADDRESS:PORT"; 0 if there is no such line yet.
std::uint16_t announced_port(const std::string& output) {
  const auto start = output.find(kListening);
  if (start == std::string::npos) return 0;
  const auto end = output.find('\n', start);
  if (end == std::string::npos) return 0;
  return static_cast<std::uint16_t>(std::stoul(output.substr(output.rfind(':', end) + 1)));
}

}  // namespace

std::string hearsay_program() {
  const char* const other = std::getenv("HEARSAY_PROGRAM");
  return other ? other : HEARSAY_PROGRAM;
}

json with_peer(std::string_view name, std::uint16_t port, json settings) {
  json peer{{"name", name}, {"url", "http://127.0.0.1:" + std::to_string(port)}};
  settings["peers"] = json::array({std::move(peer)});
  return settings;
}

json settings_for_tests(const std::filesystem::path& access_log) {
  return {{"listen", {"127.0.0.1:0"}},
          {"threads", 2},
          {"control", "none"},
          {"user", "root"},  // else a warning, where root runs the tests
          {"cache", {{"memory", "64MiB"}}},
          {"digest",
           {{"period", "50ms"},
            {"poll", "100ms"},
            {"squid_period", "1s"},
            {"prefer", "neighbours"},
            {"duplicates", "always"},
            {"check_sample", 0},
            {"check_pause", "10ms"}}},
          {"timeouts", {{"peer_connect", "10s"}, {"peer_first_byte", "10s"}}},  // on a busy machine
          {"access", {{"clients", {"loopback"}}, {"deny_to", json::array()}}},
          {"log", {{"access", access_log.string()}}}};
}

Command serve_command(const std::filesystem::path& settings_file) {
  // AddressSanitizer keeps freed memory by default, and tests measure memory that is given back. It
  // refuses a library that comes before its own, and some tests preload one.
  return {{hearsay_program(), "serve", "--config", settings_file.string()},
          {"ASAN_OPTIONS=quarantine_size_mb=1:verify_asan_link_order=0"}};
}

ProxyProcess::ProxyProcess(const json& settings) {
  start(settings, {});
}

ProxyProcess::ProxyProcess(const json& settings, const Listener& listener) {
  start(settings, {listener.descriptor()});
}

void ProxyProcess::start(const json& settings, const std::vector<int>& sockets) {
  json all = settings_for_tests(access_log_path());
  all.merge_patch(settings);
  write_file(settings_file(), all.dump(2));
  Command command = serve_command(settings_file());
  command.sockets = sockets;
  process_ = std::make_unique<ChildProcess>(command);
  const bool settled = await([this] {
    port_ = announced_port(process_->output() + process_->errors());
    return port_ != 0 || process_->exit_code();
  });
  if (!settled || port_ == 0) {
    throw std::runtime_error("hearsay does not serve; it said: " + process_->errors());
  }
}

void ProxyProcess::write_settings(const json& settings) const {
  json all = settings_for_tests(access_log_path());
  all.merge_patch(settings);
  write_file(settings_file(), all.dump(2));
}

void ProxyProcess::reload(const json& settings) {
  write_settings(settings);
  reload_text(read_file(settings_file()));
}

void ProxyProcess::reload_text(std::string_view text) {
  write_file(settings_file(), text);
  process_->signal(SIGHUP);
  ++reloads_;
  const bool settled =
      await([this] { return count_of(process_->errors(), " reloaded") == reloads_; });
  if (!settled) throw TimedOut("hearsay says nothing of a reload: " + process_->errors());
}

Response ProxyProcess::page(std::string_view path, const Fields& fields, std::string_view method,
                            std::string_view body) const {
  Client client(port_);
  client.send(origin_form_text(address(), method, path, fields, body));
  return client.read(method);
}

json ProxyProcess::digest() const {
  return json::parse(page("/digest").body);
}

json ProxyProcess::digest_peer(std::string_view name) const {
  const json all = digest();
  for (const json& entry : all.at("peers")) {
    if (entry.at("name") == name) return entry;
  }
  throw std::runtime_error("/digest has no peer " + std::string(name));
}

double ProxyProcess::metric(std::string_view name) const {
  std::istringstream lines(page("/metrics").body);
  for (std::string line; std::getline(lines, line);) {
    const auto space = line.rfind(' ');
    if (line.substr(0, space) == name) return std::stod(line.substr(space + 1));
  }
  return 0;
}

std::vector<LogLine> ProxyProcess::access_log() const {
  return parse_access_log(read_file(access_log_path()));
}

LogLine ProxyProcess::logged(std::string_view url) const {
  std::vector<LogLine> lines;
  if (!await([&] { return !(lines = lines_about(url, access_log())).empty(); })) {
    throw TimedOut("nothing was logged about " + std::string(url));
  }
  return lines.back();
}

int ProxyProcess::terminate(std::chrono::milliseconds limit) {
  process_->signal(SIGTERM);
  return process_->wait(limit);
}

std::uint64_t ProxyProcess::resident_bytes() const {
  return memory("VmRSS:");
}

std::uint64_t ProxyProcess::anonymous_bytes() const {
  return memory("RssAnon:");
}

std::uint64_t ProxyProcess::memory(std::string_view line) const {
  const std::string path = "/proc/" + std::to_string(process_->pid()) + "/status";
  const std::string status = read_file(path);
  return std::stoull(status.substr(status.find(line) + line.size())) * 1024;
}

}  // namespace support
