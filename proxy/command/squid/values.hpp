// Directives of Squid that need no setting with one value alone, mostly that of Squid's default.
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

// Nothing: the directive is none of these. Pure.
std::optional<Advice> advice_by_value(const Line& line);

}  // namespace proxy::command::squid
