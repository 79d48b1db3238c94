// Declares subcommands to the command line's parser.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "proxy/command/run_subcommand.hpp"

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

inline void add_json(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "print JSON, for programs");
}

}  // namespace proxy::command
