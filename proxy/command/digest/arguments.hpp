// The arguments of `hearsay digest`.
#pragma once

#include <functional>

#include "proxy/command/streams.hpp"

namespace CLI {
class App;
}

namespace proxy::command {

// Adds the subcommand `digest` to a program. Once the program has parsed its arguments, and only if
// they name `digest`, the returned function does what they ask for and returns the exit code. It
// throws nothing: it writes what went wrong to `err`, in one line. SIGPIPE must be ignored by then.
std::function<int(const Streams&)> add_digest(CLI::App& program);

}  // namespace proxy::command
