// Settings from a JSON file: all of them or, located, everything that is wrong with it.
#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"

namespace config {

struct SettingsError {
  std::string where;  // "line 3, column 7, peers[0].url", after a file's path if there is one
  std::string what;   // what was expected, what stood there, and what to do if that is not plain

  bool operator==(const SettingsError&) const = default;
};

// Never empty, in the order of the file.
using SettingsErrors = std::vector<SettingsError>;

// Reads JSON with // and /* */ comments; sizes are "256MiB", times "250ms" or "5s". Safe on any
// bytes: size and depth are bounded first. A key that is not known or comes twice is an error, so
// that a slip of the pen never leaves a default in force unnoticed. Text that is not JSON gives its
// first fault; JSON gives every fault in it at once.
boost::system::result<Settings, SettingsErrors> load(std::string_view json_text);

// The same for a file, whose path then begins each place; blocks.
boost::system::result<Settings, SettingsErrors> load_file(const std::string& path);

}  // namespace config
