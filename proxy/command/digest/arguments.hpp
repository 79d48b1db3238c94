// The arguments of `hearsay digest`.
#pragma once

#include <functional>

#include "proxy/command/streams.hpp"

namespace CLI {
class App;
}

namespace proxy::command {

// Adds the subcommand `digest` to a program. After the program has parsed arguments that name
// `digest`, call the returned function. It runs the subcommand and returns the exit code. It throws
// nothing, and writes trouble to `err` in one line. SIGPIPE must be ignored.
std::function<int(const Streams&)> add_digest(CLI::App& program);

}  // namespace proxy::command
