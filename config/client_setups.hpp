// How clients are told to use this proxy: the files of config/clients/, embedded by the build.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/endpoint.hpp"

namespace config {

// A file of config/clients/. Its first two lines are the title and the place, each after "# ".
struct ClientSetup {
  std::string_view name;   // of the file, such as "apt-proxy"
  std::string_view title;  // which client it is for
  std::string_view place;  // the file that gets the text, or in words where it is typed
  std::string_view text;   // names the proxy cache.example:3128, and its host cache.example
};

// All setups, in the order of their names.
std::span<const ClientSetup> client_setups();

// The text for clients that reach the proxy at `proxy`. Pure.
std::string setup_text(const ClientSetup& setup, const HostPort& proxy);
// Returns the setup below its title and its place, as in the file.
std::string setup_file(const ClientSetup& setup, const HostPort& proxy);

}  // namespace config
