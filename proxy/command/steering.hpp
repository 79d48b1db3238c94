// The subcommands that ask a running proxy: `status`, `reload` and others.
#pragma once

#include <functional>
#include <optional>

#include "proxy/command/streams.hpp"

namespace CLI {
class App;
}

namespace proxy::command {

// Adds the subcommands to a program, which has to outlive the returned function. After the parsing,
// that function does what the command line names, says what went wrong, and returns the exit code
// (ask.hpp). Nothing: the command line names none of them. Throws nothing.
std::function<std::optional<int>(const Streams&)> add_steering(CLI::App& program);

}  // namespace proxy::command
