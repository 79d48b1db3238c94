// Where the control socket of a proxy is: a Unix socket that serves its own pages.
#pragma once

#include <cstddef>
#include <string>

#include "config/settings.hpp"

namespace config {

inline constexpr const char* kDefaultControl = "/run/hearsay/control.sock";
inline constexpr std::size_t kLongestControl = 107;  // of a socket's path: unix(7)

// The setting `control`. Unset: kDefaultControl if this process may create files in its folder,
// else empty, for no socket.
std::string control_path(const Settings& settings);

}  // namespace config
