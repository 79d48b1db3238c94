#include "proxy/command/steer/place.hpp"

#include <fmt/format.h>

#include "config/load.hpp"

namespace proxy::command {
namespace {

// Whether this process may use the folder of the default socket says nothing of the proxy.
Answered<Place> place_in(const std::string& file) {
  const auto settings = config::load_file(file);
  if (!settings) {
    std::string text = "the settings are wrong";
    for (const auto& error : settings.error()) text += '\n' + error.where + ": " + error.what;
    return Unanswered{kUsage, text};
  }
  const auto socket = settings->control.value_or(config::kDefaultControl);
  if (!socket.empty()) return Place{socket, {}};
  return Unanswered{kUsage, fmt::format("{} turns the control socket off (\"control\": \"none\"); "
                                        "--url http://HOST:PORT asks over the network",
                                        file)};
}

}  // namespace

Answered<Place> place_of(const PlaceOptions& options) {
  if (!options.config.empty()) return place_in(options.config);
  if (!options.socket.empty()) return Place{options.socket, {}};
  if (options.url.empty()) return Place{config::kDefaultControl, {}};
  return Place{{}, options.url.substr(0, options.url.find_last_not_of('/') + 1)};
}

}  // namespace proxy::command
