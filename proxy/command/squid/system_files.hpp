// The files of the system, for an import.
#pragma once

#include "proxy/command/squid/lines.hpp"

namespace proxy::command::squid {

// `read` sets errno where it fails; it reads ordinary files only, and may block as these do.
Files system_files();

}  // namespace proxy::command::squid
