// The sandbox as the settings ask for it.
#pragma once

#include <string>
#include <vector>

#include "config/settings.hpp"

namespace proxy::sandbox {

// Enters the sandbox (see enter()) unless the settings, or a build with a sanitizer, do without it.
// `settings_file`: from which the settings were read. Returns what is in force, in one line for a
// person. Call this while the process has one thread.
std::string confine(const config::Settings& settings, const std::string& settings_file);

// What confine() would put in force, in lines for a person. Changes nothing.
std::vector<std::string> preview(const config::Settings& settings,
                                 const std::string& settings_file);

}  // namespace proxy::sandbox
