// hearsay dashboard: signs browsers in to the dashboard.
#pragma once

#include <optional>
#include <string>

#include "proxy/command/steer/steer.hpp"

namespace proxy::command {

// The link in the proxy's page, and a hint for the person who opens it. Nothing: the page has no
// link.
struct SignInLink {
  std::string link;
  std::string about;
};
std::optional<SignInLink> sign_in_link(const std::string& page);

// "2 browsers are signed out\n". Nothing: it is no such page.
std::optional<std::string> revoked_text(const std::string& page);

// Prints the link to stdout, and what is to know of it to stderr. With `revoke`, signs all browsers
// out.
SteerResult dashboard(const Steer& steer, bool revoke);

}  // namespace proxy::command
