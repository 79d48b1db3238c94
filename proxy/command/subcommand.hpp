// A subcommand, as the command line is read before anything is done.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "proxy/command/streams.hpp"

namespace proxy::command {

// What the command line has chosen.
struct Chosen {
  std::string name;
  std::function<Result<int>(const Streams&)> work;
};

// Chooses this work where it is named. `chosen` outlives the reading of the command line; the work
// must not keep alive what it is a part of.
inline CLI::App& add_work(CLI::App& parent, Chosen& chosen, const std::string& name,
                          const std::string& about,
                          std::function<Result<int>(const Streams&)> work) {
  CLI::App& app = *parent.add_subcommand(name, about);
  app.callback([&chosen, name, work = std::move(work)] { chosen = {name, work}; });
  return app;
}

inline void add_json(CLI::App& app, bool& json) {
  app.add_flag("--json", json, "say it as JSON, for programs");
}

}  // namespace proxy::command
