// hearsay purge: drops stored responses.
#pragma once

#include <optional>
#include <string>

#include "proxy/command/steer/steer.hpp"

namespace proxy::command {

// One of these.
struct PurgeOptions {
  std::string url = {};
  std::string prefix = {};
  std::string host = {};  // as in the settings: "*.example.com", "*" for everything
};

// Returns 0 if any response was dropped, or if the purge is of many URLs, of which those on disk
// are not counted; kRefusal if nothing was stored under the URL.
SteerResult purge(const Steer& steer, const PurgeOptions& options);

// The page's answer in words. Nothing: it is no such answer.
std::optional<std::string> purge_text(const std::string& page, bool of_one);

}  // namespace proxy::command
