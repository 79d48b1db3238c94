// Requests for the cache pages of a running proxy, by HTTP and by `hearsay cache`.
#pragma once

#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/scenario/scene.hpp"
#include "tests/support/child_process.hpp"

namespace scenario {

inline Response ask_page(const ProxyProcess& proxy, std::string_view method, std::string_view path,
                         const Fields& fields = kOnPurpose, std::string_view body = {}) {
  return proxy.page(path, fields, method, body);
}

inline std::vector<json> lines_of(const std::string& text) {
  std::vector<json> lines;
  for (std::istringstream in(text); !in.eof();) {
    std::string line;
    if (std::getline(in, line); !line.empty()) lines.push_back(json::parse(line));
  }
  return lines;
}

// `hearsay cache` with the settings of a proxy that listens on this port.
inline Outcome run_cache(const std::vector<std::string>& arguments,
                         const std::filesystem::path& directory, std::uint16_t port) {
  const TemporaryDirectory home;
  const json disk{{"path", directory.string()}, {"size", "64MiB"}};
  const json settings{{"listen", {"127.0.0.1:" + std::to_string(port)}},
                      {"cache", {{"disk", disk}}}};
  write_file(home / "settings.json", settings.dump());
  Command command{{hearsay_program(), "cache"}};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  command.arguments.insert(command.arguments.end(), {"--config", home / "settings.json"});
  return run_to_end(command);
}

}  // namespace scenario
