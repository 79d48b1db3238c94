// Reads settings from a JSON file. Returns all of them, or everything that is wrong and where.
#pragma once

#include <boost/system/result.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"

namespace config {

// The settings of the service.
inline constexpr const char* kDefaultSettings = "/etc/hearsay/hearsay.json";
inline constexpr const char* kDefaultControl = "/run/hearsay/control.sock";

// Where the control socket is, a Unix socket that serves our own pages: the setting `control`.
// Unset: kDefaultControl if this process may create files in its folder, else empty, for no socket.
std::string control_path(const Settings& settings);

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
// yields its first fault; JSON yields all its faults at once. "${NAME}" within a text is the
// variable of this name of the environment, and "$${" is "${"; a text that has one may also stand
// for a number, true or false. A variable that is not set is an error. The values that are inserted
// take at most kLongestSettings.
boost::system::result<Settings, SettingsErrors> load(std::string_view json_text);

// Reads a regular file, and the files that the key "include" of its outermost object lists. A path
// is relative to the folder of the file that names it. What a file says counts before what it
// includes, and a later file of the list before an earlier one: objects are merged key by key; of
// two lists of objects, such as `peers`, the items of the second follow those of the first; of all
// else the first value counts. A file that is named twice counts once; one that leads back to
// itself is an error. The path of a file precedes the position in each error. Blocks.
boost::system::result<Settings, SettingsErrors> load_file(const std::string& path);

// Reads a regular file. A file of more than `most` bytes gives its first `most` + 1, so that the
// caller sees that it is too long. Nothing if the file cannot be read: `why` then says why. Blocks.
std::optional<std::string> read_file(const std::string& path, std::size_t most, std::string& why);

}  // namespace config
