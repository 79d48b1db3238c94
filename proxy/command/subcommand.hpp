// Declares subcommands to the command line's parser.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <system_error>

#include "config/load.hpp"
#include "proxy/command/streams.hpp"

namespace proxy::command {

// The subcommand that the command line names, and its work.
struct ChosenWork {
  std::string name;
  Work work;
};

// Adds the subcommand `name` to `parent`; parsing a command line that names it stores `work` in
// `chosen`. `chosen` must outlive the parsing. `work` must not own the object that holds `chosen`:
// neither would ever be freed.
inline CLI::App& add_work(CLI::App& parent, ChosenWork& chosen, const std::string& name,
                          const std::string& about, Work work) {
  CLI::App& app = *parent.add_subcommand(name, about);
  app.callback([&chosen, name, work = std::move(work)] { chosen = {name, work}; });
  return app;
}

inline CLI::Option* add_settings_option(CLI::App& app, std::string& file) {
  return app.add_option(
      "--config", file,
      std::string("the settings, a JSON file; default ") + config::kDefaultSettings);
}

// Sets `file` to the usual settings file if the command line names none. If that is missing,
// returns what is wrong, and that `how` names another one; else an empty text.
inline std::string use_default_settings(std::string& file, const char* how = "--config FILE") {
  std::error_code error;
  if (!file.empty()) return {};
  file = config::kDefaultSettings;
  if (std::filesystem::exists(file, error)) return {};
  return std::string("name the settings by ") + how + ": there is no " + config::kDefaultSettings;
}

inline void add_json(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "print JSON, for programs");
}

}  // namespace proxy::command
