// What the acls of an access line demand of a request.
#pragma once

#include <optional>
#include <string>

#include "proxy/command/squid/acl.hpp"

namespace proxy::command::squid {

// The acls of one line, taken together.
struct Demand {
  bool never = false;   // no request meets it
  bool pages = false;   // it is about requests for the proxy's own pages
  Conditions all;       // the acls that have an equal here
  Alternatives except;  // requests that meet one of these do not meet the line
  config::Networks destinations;
  std::string unknown;     // the first acl without an equal, and why; empty: all have one
  std::string hosts_file;  // the line is about the hosts of this file alone
  // If the line asks for a user, Squid refuses a request without one, unless the request fails an
  // acl before: it meets these. That holds even if no request meets the line.
  std::optional<Conditions> before_user;
  bool pages_for_users = false;  // likewise, of requests for own pages, or to purge, alone

  [[nodiscard]] bool is_about_pages() const {
    return pages || all.methods == std::vector<std::string>{"PURGE"};
  }
  [[nodiscard]] bool is_conditions_only() const {
    return unknown.empty() && except.empty() && destinations.empty() && !never;
  }
};

// Of a line "allow NAME !NAME ..." or "deny ...". Pure.
Demand demanded_by(const Line& line, const Acls& acls, bool allows);

}  // namespace proxy::command::squid
