// What an import has to tell about the lines of a squid.conf.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace proxy::command::squid {

// A line of a configuration file. Continued lines count as their first one.
struct Place {
  std::size_t order = 0;  // of the line among all lines, those of included files in their place
  std::string file;       // as the command line or `include` names it
  std::size_t number = 0;

  auto operator<=>(const Place&) const = default;
};

struct Finding {
  enum class Kind : std::uint8_t {
    wider,     // not carried over, though it denies: somebody has ordered that
    left,      // not carried over: somebody has to decide
    changed,   // carried over, with a difference
    unneeded,  // nothing to carry over: Hearsay does this by itself
  };

  Place place;
  Kind kind;
  std::string line;  // as written, shortened, printable
  std::string what;  // why, and what to do instead

  bool operator==(const Finding&) const = default;
};

using Findings = std::vector<Finding>;

}  // namespace proxy::command::squid
