// What became of an order to read the settings again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/load.hpp"

namespace proxy {

struct Reloaded {
  std::string file;                       // of the settings
  config::SettingsErrors errors;          // not empty: nothing has changed
  std::vector<std::string_view> waiting;  // settings that changed, and that need a restart
};

}  // namespace proxy
