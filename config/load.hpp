// Reads settings from a JSON file. Returns all of them, or everything that is wrong and where.
#pragma once

#include <boost/system/result.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"

namespace config {

// The settings of the service.
inline constexpr const char* kDefaultSettings = "/etc/hearsay/hearsay.json";

struct SettingsError {
  // "line 3, column 7, peers[0].url", preceded by the path of the file if there is one.
  std::string where;
  std::string what;  // what was expected, what was found, and what to do if that is not obvious

  bool operator==(const SettingsError&) const = default;
};

// Never empty, in the order of the file.
using SettingsErrors = std::vector<SettingsError>;

// Reads JSON with // and /* */ comments. Sizes are written "256MiB", times "250ms" or "30d". Safe
// on any bytes: size and depth are checked first. A key that is unknown or occurs twice is an
// error, so that a typing mistake never leaves a default in force unnoticed. Text that is not JSON
// yields its first fault; JSON yields all its faults at once. "${NAME}" within a text is a value of
// the environment (environment.hpp).
boost::system::result<Settings, SettingsErrors> load(std::string_view json_text);

// Reads a regular file, and the files that it includes (settings_files.hpp). The path of a file
// precedes the position in each error. Blocks.
boost::system::result<Settings, SettingsErrors> load_file(const std::string& path);

}  // namespace config
