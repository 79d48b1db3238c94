// What an access line requires of a request.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proxy/command/squid/acl.hpp"

namespace proxy::command::squid {

using Alternatives = std::vector<Conditions>;

// What the acls of one line require, taken together.
struct Required {
  bool never = false;   // no request meets it
  bool pages = false;   // it is about requests for the proxy's own pages
  Conditions all;       // the acls that have an equal here, and those whose opposite has one
  Alternatives parts;   // the same one by one
  Alternatives except;  // requests that meet one of these do not meet the line
  config::Networks destinations;
  std::string unknown;     // the first acl without an equal, and why; empty: all have one
  std::string hosts_file;  // the line is about the hosts of this file alone
  // If the line asks for a user, Squid refuses a request without one, unless the request fails a
  // condition that the line names before: these parts. That holds even if no request meets the
  // line.
  std::optional<Alternatives> before_user;
  bool pages_for_users = false;  // likewise, of requests for own pages, or to purge, alone

  // Whether it is about requests for the proxy's own pages, or to purge.
  [[nodiscard]] bool is_about_pages() const;
};

// Of a line "allow NAME !NAME ..." or "deny ...". Pure.
Required required_by(const Line& line, const Acls& acls, bool allows);

}  // namespace proxy::command::squid
