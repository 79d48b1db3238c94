// `hearsay import-squid FILE`.
#pragma once

#include <functional>

#include "proxy/command/squid/lines.hpp"
#include "proxy/command/streams.hpp"

namespace CLI {
class App;
}

namespace proxy::command {

namespace squid {
// The files of the system. `read` sets errno where it fails; it reads ordinary files only, and may
// block as these do.
Files system_files();
}  // namespace squid

// Declares the subcommand. Call the result, which returns the exit code, if the command line names
// it.
std::function<int(const Streams&)> add_import_squid(CLI::App& program);

}  // namespace proxy::command
