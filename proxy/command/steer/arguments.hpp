// The arguments of the subcommands that ask a running proxy.
#pragma once

#include <functional>
#include <optional>

#include "proxy/command/streams.hpp"

namespace CLI {
class App;
}

namespace proxy::command {

// Adds `status`, `reload` and the others to a program. After the parsing, the returned function
// does what the command line names, says what went wrong, and returns the exit code (answered.hpp).
// Nothing: the command line names none of them. Throws nothing.
std::function<std::optional<int>(const Streams&)> add_steering(CLI::App& program);

}  // namespace proxy::command
