// Settings for tests: nothing is logged.
#pragma once

#include "config/settings.hpp"

namespace proxy::client {

inline config::Settings quiet_settings() {
  config::Settings settings;
  settings.log.access = config::LogTarget::none;
  return settings;
}

}  // namespace proxy::client
