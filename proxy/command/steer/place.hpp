// Where a running proxy is asked.
#pragma once

#include <string>

#include "proxy/command/steer/answered.hpp"

namespace proxy::command {

// As the command line says. At most one is given.
struct PlaceOptions {
  std::string socket = {};
  std::string config = {};  // a settings file, whose setting `control` names the socket
  std::string url = {};
};

// One of the two is empty.
struct Place {
  std::string socket;  // of this machine
  std::string url;     // of the beginning of the pages, without a slash at its end

  // For messages.
  [[nodiscard]] const std::string& name() const { return url.empty() ? socket : url; }
};

// Without options, the socket at config::kDefaultControl. Fails with kUsage if the settings have
// errors, or turn the socket off.
Answered<Place> place_of(const PlaceOptions& options);

}  // namespace proxy::command
