// What an import makes of each directive of Squid.
#pragma once

#include <optional>
#include <string_view>

#include "proxy/command/squid/findings.hpp"

namespace proxy::command::squid {

// Whether a part of the import reads the directive, and tells itself what it leaves out.
bool is_read(std::string_view directive);

struct Advice {
  Finding::Kind kind;
  std::string_view what;
};

// Of a directive that no part reads. Nothing: Squid 5 has no such directive.
std::optional<Advice> advice_on(std::string_view directive);

}  // namespace proxy::command::squid
