// `hearsay import-squid FILE`.
#pragma once

#include <functional>

#include "proxy/command/streams.hpp"

namespace CLI {
class App;
}

namespace proxy::command {

// Declares the subcommand. Call the result, which returns the exit code, if the command line names
// it.
std::function<int(const Streams&)> add_import_squid(CLI::App& program);

}  // namespace proxy::command
