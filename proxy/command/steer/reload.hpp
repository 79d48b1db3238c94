// hearsay reload: the proxy reads its settings again.
#pragma once

#include <string>

#include "proxy/command/steer/steer.hpp"

namespace proxy::command {

// Returns 0 if the settings are in force, though some may wait for a restart, and kRefusal if the
// file has errors.
SteerResult reload(const Steer& steer);

// The page /admin/reload in words. Nothing: it is no such page.
std::optional<std::string> reload_text(const std::string& page);

}  // namespace proxy::command
