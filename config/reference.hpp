// The reference of the settings: each with its default and its meaning, as config/hearsay.json has
// them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace config {

struct SettingText {
  std::string path;                // "cache.memory"; of a section: "cache"
  std::string value;               // its default, or an example; empty for a section
  bool is_example = false;         // the default depends on the machine or on other settings
  std::vector<std::string> lines;  // what it means
};

// The text of the file hearsay.json.
std::string_view reference_text();

// All settings of a file written like hearsay.json, in its order. Pure.
std::vector<SettingText> read_reference(std::string_view text);

// What `hearsay help settings NAME` prints: the setting and all below it. Empty: there is none of
// this name. Without a name: the list of all.
std::string describe_setting(const std::vector<SettingText>& all, std::string_view name);

// The manual page hearsay.json(5) in the macros of man(7).
std::string settings_page(const std::vector<SettingText>& all, std::string_view version);

}  // namespace config
