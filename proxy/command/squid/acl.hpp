// The acl lines of a squid.conf.
#pragma once

#include <boost/beast/core/string.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/command/squid/conditions.hpp"
#include "proxy/command/squid/lines.hpp"
#include "proxy/command/squid/patterns.hpp"

namespace proxy::command::squid {

struct Acl {
  // Whom Squid asks for a password to decide.
  enum class Asks : std::uint8_t { nobody, user, unknown_user };  // the settings know no users

  // The conditions of the acl. Nothing: no request that Hearsay serves meets them.
  std::optional<Conditions> when = Conditions{};
  std::string unknown;   // why the settings cannot say it, whatever `when` is; empty: they can
  std::string left_out;  // a value that `when` lacks, which is then less than the acl
  // The file that all values come from, if they are more hosts than a rule can list.
  std::string hosts_file;
  Asks asks = Asks::nobody;
  // The URLs of an acl that is about hosts or URLs and nothing else, for rules about sites.
  UrlPatterns urls = {};

  // The hosts, if the acl is about all hosts of some patterns and nothing else; else none.
  [[nodiscard]] std::vector<std::string> only_hosts() const;
};

// By name. Squid compares the names of acls without regard to case.
using Acls = std::map<std::string, Acl, boost::beast::iless>;

// Whether the line says "ACTION all" from the word `at` to its end, whatever the configuration.
bool is_for_all(const Line& line, std::string_view action, std::size_t at = 0);

// Whether an htpasswd file tells the users, so that proxy_auth has a meaning.
enum class Users : std::uint8_t { unknown, known };

// The acls that Squid defines by itself, and those of the lines. Whatever an acl leaves out is a
// finding.
Acls read_acls(const std::vector<Line>& lines, const Files& files, Users users, Findings& findings);

// What the acls of one access line demand of a request, taken together.
struct Demand {
  bool never = false;      // no request meets it
  Conditions all;          // the acls that have an equal here
  Alternatives except;     // requests that meet one of these do not meet the line
  std::string unknown;     // the first acl without an equal, and why; empty: all have one
  std::string hosts_file;  // the line is about the hosts of this file alone
  // If the line asks for a user, Squid refuses a request without one, unless the request fails an
  // acl before: it meets these. That holds even if no request meets the line.
  std::optional<Conditions> before_user;
  Acl::Asks asks = Acl::Asks::nobody;
};

// Whether the requests are for the proxy's own pages, or order a purge.
bool is_about_pages(const Conditions& when);

// Returns what a line "allow NAME !NAME ..." or "deny ..." demands of a request. An acl that lacks
// values covers fewer requests than the line means, which is safe for an action that allows. Pure.
Demand demanded_by(const Line& line, const Acls& acls, Action action);

}  // namespace proxy::command::squid
