// What the program says of itself when it starts.
#pragma once

#include <string>
#include <vector>

#include "proxy/worker/worker.hpp"

namespace proxy {

// Five lines for a person: who we are, where we listen, what we hold, whom we know, what limits us.
// `settings`: the path of the settings file. `sandbox`: a text that says what is confined.
std::vector<std::string> start_report(const Process& process, const Policy& policy,
                                      const std::string& settings, const std::string& sandbox);

}  // namespace proxy
