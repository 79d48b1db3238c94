// A proxy with a control socket, and the subcommands that steer it.
#pragma once

#include "tests/scenario/scene.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/temporary_directory.hpp"

namespace scenario {
inline json with_control(const std::filesystem::path& socket, json settings = json::object()) {
  settings["control"] = socket.string();
  return settings;
}

inline Outcome hearsay(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), hearsay_program());
  return run_to_end({.arguments = std::move(arguments)});
}

// A proxy with a control socket.
struct Steered {
  explicit Steered(json settings = json::object())
      : proxy(with_control(socket(), std::move(settings))) {}

  [[nodiscard]] std::filesystem::path socket() const { return directory / "control.sock"; }
  // `hearsay SUBCOMMAND --socket PATH ...`
  [[nodiscard]] Outcome steer(const std::string& subcommand,
                              const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{subcommand, "--socket", socket().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return hearsay(arguments);
  }

  TemporaryDirectory directory;
  ProxyProcess proxy;
};

}  // namespace scenario
