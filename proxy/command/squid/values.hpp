// Directives of Squid that need no setting if they have a certain value, mostly Squid's default.
#pragma once

#include <optional>
#include <string_view>

#include "proxy/command/squid/findings.hpp"
#include "proxy/command/squid/lines.hpp"

namespace proxy::command::squid {

struct Advice {
  Finding::Kind kind;
  std::string_view what;
};

// Whether a list of items, separated by '|', has this one.
bool lists(std::string_view list, std::string_view item);

// Returns the advice on a line with such a directive; nothing for other directives. Pure.
std::optional<Advice> advice_by_value(const Line& line);

}  // namespace proxy::command::squid
